// Compiled in every mode that the headers promise: C++17 and C++20, with and without exceptions and RTTI, each header
// twice, under the strictest warnings. It touches every class; the program that is linked from it decides for real.
#include <clef.h>
#include <clef/clef.hpp>
#include <cstdio>
#include <cstring>
#include <type_traits>

#if CLEF_HAS_EXCEPTIONS != CONSUMER_EXCEPTIONS
#error "exceptions are not detected as they were chosen"
#endif

// Handles are owned once.
template <class T>
constexpr bool kMoveOnly = !std::is_copy_constructible<T>::value && !std::is_copy_assignable<T>::value &&
                           std::is_nothrow_move_constructible<T>::value && std::is_nothrow_move_assignable<T>::value;
static_assert(kMoveOnly<clef::Runtime> && kMoveOnly<clef::Source> && kMoveOnly<clef::Model>, "");
static_assert(kMoveOnly<clef::Tokenizer> && kMoveOnly<clef::Schema> && kMoveOnly<clef::SchemaBuilder>, "");
static_assert(kMoveOnly<clef::State> && kMoveOnly<clef::Session> && kMoveOnly<clef::Run>, "");
static_assert(kMoveOnly<clef::Decision> && kMoveOnly<clef::Cancel> && kMoveOnly<clef::Error>, "");
static_assert(std::is_same<clef::Model, clef::v0::Model>::value, "the version is part of every name");
static_assert(sizeof(clef::Model) == sizeof(void*), "a handle and nothing else");

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto runtime = clef::Runtime::create();
  if (!runtime) return 10;
  auto source = clef::Source::create(*runtime);
  if (!source || !source->add_path(argv[1])) return 11;
  auto model = clef::Model::load(*runtime, *source);
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().message().data());
    return 12;
  }
  auto tokenizer = model->tokenizer();
  if (!tokenizer || !tokenizer->encode("refund")) return 13;
  auto schema = clef::Schema::builder()
                    .noul("refund", "Does the customer want a refund?")
                    .choice("team", "Who handles it?", {{"billing", "Invoices and payments."}, "technical"})
                    .score("urgency", "How urgent is it?", {"low", "medium", "high"})
                    .build();
  if (!schema || schema->size() != 3) return 14;
  auto state = clef::State::text("I was charged twice. Please send the money back today.");
  if (!state) return 15;
  auto session = model->session();
  if (!session) return 16;
  auto decision = session->decide(*schema, *state);
  if (!decision) return 17;
  if (!((*decision)["refund"].probability() > 0.5)) return 18;
  if ((*decision)["team"].choice() != "billing") return 19;
  if (!((*decision)["urgency"].score() >= 0)) return 20;
  auto run = session->start(*schema, *state);
  if (!run) return 21;
  while (!run->finished())
    if (!run->step()) return 22;
  auto stepped = run->finish();
  if (!stepped || stepped->json() != decision->json()) return 23;
  auto refused = session->decide_json("{}");
  if (refused || refused.error().status() != clef::Status::busy) return 24;  // the run still holds the session
#if CLEF_HAS_EXCEPTIONS
  try {
    (void)clef::Schema::parse("[]").value();
    return 25;
  } catch (const clef::Exception& exception) {
    if (exception.error().status() != clef::Status::wrong_type || std::strlen(exception.what()) == 0) return 26;
  }
#endif
  return 0;
}
