/* Ends without freeing anything, with the pool's threads alive: exit must neither hang nor crash. */
#include "clef.h"
#include "program.h"

int main(int count, char** arguments) {
  CHECK(count == 2);
  clef_runtime_options* options = NULL;
  clef_runtime* runtime = NULL;
  clef_source* source = NULL;
  clef_model* model = NULL;
  clef_session* session = NULL;
  clef_decision* decision = NULL;
  CHECK(clef_runtime_options_create(&options, NULL) == CLEF_OK);
  CHECK(clef_runtime_options_set_threads(options, 4, NULL) == CLEF_OK);
  CHECK(clef_runtime_create(CLEF_ABI_VERSION, options, &runtime, NULL) == CLEF_OK);
  CHECK(clef_source_create(runtime, &source, NULL) == CLEF_OK);
  CHECK(clef_source_add_path(source, NULL, 0, arguments[1], CLEF_NUL, NULL) == CLEF_OK);
  CHECK(clef_model_load(runtime, source, NULL, &model, NULL) == CLEF_OK);
  CHECK(clef_session_create(model, &session, NULL) == CLEF_OK);
  CHECK(clef_decide_json(session, REQUEST, CLEF_NUL, NULL, &decision, NULL) == CLEF_OK);
  CHECK(clef_decision_count(decision) == 1);
  return 0;
}
