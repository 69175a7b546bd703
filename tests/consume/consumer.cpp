// A C++17 program that uses the headers as a stranger does: one decision with the model whose folder is given.
#include <clef/clef.hpp>
#include <cstdio>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto model = clef::Model::load(argv[1]);
  if (!model) {
    std::fprintf(stderr, "%s\n", std::string(model.error().message()).c_str());
    return 1;
  }
  auto schema = clef::Schema::builder()
                    .noul("refund", "The customer wants a refund.")
                    .choice("team", "Who should handle this?", {{"billing"}, {"shipping"}})
                    .build();
  if (!schema) return 1;
  auto decision = model->decide(*schema, "I was charged twice, please refund me.");
  if (!decision) return 1;
  std::printf("%s\n", std::string(decision->json()).c_str());
  return (*decision)["refund"].probability() > 0.5 && (*decision)["team"].choice() == "billing" ? 0 : 1;
}
