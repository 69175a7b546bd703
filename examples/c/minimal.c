/* The shortest complete use of clef in C: load a model, ask three questions about a text, print the answers.
 *
 *     minimal MODEL [TEXT]        for instance: minimal examples/clef-nano
 *
 * Build it against an installed clef with: cc minimal.c $(pkg-config --cflags --libs clef) */
#include <clef.h>
#include <stdio.h>

/* Prints an error, frees it, and gives the exit status. */
static int failed(clef_error* error) {
  fprintf(stderr, "%s\n", clef_error_message(error, NULL));
  clef_error_free(error);
  return 1;
}

/* The schema: what is asked, and which answers are allowed. */
static clef_status make_schema(clef_schema** schema, clef_error** error) {
  static const char* const teams[] = {"billing", "technical", "shipping"};
  static const char* const meanings[] = {"Charges, invoices and payments.", "Bugs, crashes and errors.", NULL};
  static const char* const levels[] = {"can wait", "this week", "today"};
  clef_schema_builder* builder = NULL;
  clef_status status = clef_schema_builder_create(NULL, &builder, error);
  if (status == CLEF_OK)
    status = clef_schema_builder_add_noul(builder, "refund_requested", CLEF_NUL, "Is the customer asking for a refund?",
                                          CLEF_NUL, NULL, 0, NULL, 0, error);
  if (status == CLEF_OK)
    status = clef_schema_builder_add_choice(builder, "team", CLEF_NUL, "Which team should handle this?", CLEF_NUL, 3,
                                            teams, NULL, meanings, NULL, error);
  if (status == CLEF_OK)
    status = clef_schema_builder_add_score(builder, "priority", CLEF_NUL, "How urgent is this?", CLEF_NUL, 3, levels,
                                           NULL, error);
  if (status == CLEF_OK) status = clef_schema_builder_finish(builder, schema, error);
  clef_schema_builder_free(builder);
  return status;
}

static clef_status load_model(const char* path, clef_model** model, clef_error** error) {
  clef_runtime* runtime = NULL;
  clef_source* source = NULL;
  clef_status status = clef_runtime_create(CLEF_ABI_VERSION, NULL, &runtime, error);
  if (status == CLEF_OK) status = clef_source_create(runtime, &source, error);
  if (status == CLEF_OK) status = clef_source_add_path(source, NULL, 0, path, CLEF_NUL, error);
  if (status == CLEF_OK) status = clef_model_load(runtime, source, NULL, model, error);
  clef_source_free(source); /* the model keeps what it needs alive, so any order will do */
  clef_runtime_free(runtime);
  return status;
}

static void print_decision(const clef_decision* decision) {
  for (size_t q = 0; q < clef_decision_count(decision); ++q) {
    const float* probabilities = clef_decision_probabilities(decision, q);
    printf("%s\n", clef_decision_id(decision, q, NULL));
    for (size_t i = 0; i < clef_decision_option_count(decision, q); ++i)
      printf("  %-10s %.4f%s\n", clef_decision_option_id(decision, q, i, NULL), probabilities[i],
             i == clef_decision_top(decision, q) ? "  <-" : "");
  }
  printf("%llu tokens\n", (unsigned long long)clef_decision_input_tokens(decision));
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: minimal MODEL [TEXT]\n");
    return 2;
  }
  const char* text = argc > 2 ? argv[2]
                              : "Hi, I was charged twice for my order #48213. Please refund the second payment. "
                                "I need an answer today.";
  clef_error* error = NULL;
  clef_model* model = NULL;
  clef_schema* schema = NULL;
  clef_state* state = NULL;
  clef_session* session = NULL;
  clef_decision* decision = NULL;

  clef_status status = load_model(argv[1], &model, &error);
  if (status == CLEF_OK) status = make_schema(&schema, &error);
  if (status == CLEF_OK) status = clef_state_create(&state, &error);
  if (status == CLEF_OK) status = clef_state_set_text(state, text, CLEF_NUL, &error);
  if (status == CLEF_OK) status = clef_session_create(model, &session, &error);
  if (status == CLEF_OK) status = clef_decide(session, schema, state, NULL, &decision, &error);
  if (status == CLEF_OK) print_decision(decision);

  clef_decision_free(decision);
  clef_session_free(session);
  clef_state_free(state);
  clef_schema_free(schema);
  clef_model_free(model);
  return status == CLEF_OK ? 0 : failed(error);
}
