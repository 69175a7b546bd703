// The shortest complete use of clef in C++17: load a model, ask three questions about a text, act on the answers.
//
//     minimal MODEL [TEXT]        for instance: minimal examples/clef-nano
//
// Errors are values here; with `.value()` instead of the checks they would be exceptions.
#include <clef/clef.hpp>
#include <cstdio>

namespace {

int failed(const clef::Error& error) {
  std::fprintf(stderr, "%s\n", error.message().data());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: minimal MODEL [TEXT]\n");
    return 2;
  }
  const char* text = argc > 2 ? argv[2]
                              : "Hi, I was charged twice for my order #48213. Please refund the second payment. "
                                "I need an answer today.";

  clef::Result<clef::Model> model = clef::Model::load(argv[1]);
  if (!model) return failed(model.error());

  clef::Result<clef::Schema> schema = clef::Schema::builder()
                                          .noul("refund_requested", "Is the customer asking for a refund?")
                                          .choice("team", "Which team should handle this?",
                                                  {{"billing", "Charges, invoices and payments."},
                                                   {"technical", "Bugs, crashes and errors."},
                                                   {"shipping", "Delivery and tracking."}})
                                          .score("priority", "How urgent is this?", {"can wait", "this week", "today"})
                                          .build();
  if (!schema) return failed(schema.error());

  clef::Result<clef::Decision> decision = model->decide(*schema, text);
  if (!decision) return failed(decision.error());

  const clef::Answer refund = (*decision)["refund_requested"];
  const clef::Answer team = (*decision)["team"];
  const clef::Answer priority = (*decision)["priority"];
  std::printf("refund   %s (p = %.4f)\n", refund.probability() > 0.5 ? "yes" : "no", refund.probability());
  std::printf("team     %s\n", team.choice().data());
  for (const clef::OptionProbability option : team.probabilities())
    std::printf("         %-10s %.4f\n", option.id.data(), static_cast<double>(option.probability));
  std::printf("priority %.2f on 0 to %d\n", priority.score(), static_cast<int>(priority.option_count()) - 1);
  return 0;
}
