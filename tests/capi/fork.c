/* fork: a runtime whose pool was started is refused in the child, any other works there; freeing never hangs. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clef.h"
#include "program.h"

struct handles {
  clef_runtime* runtime;
  clef_source* source;
  clef_model* model;
  clef_session* session;
};

static void set_up(struct handles* h, const char* path, uint32_t threads) {
  clef_runtime_options* options = NULL;
  memset(h, 0, sizeof *h);
  CHECK(clef_runtime_options_create(&options, NULL) == CLEF_OK);
  CHECK(clef_runtime_options_set_threads(options, threads, NULL) == CLEF_OK);
  CHECK(clef_runtime_create(CLEF_ABI_VERSION, options, &h->runtime, NULL) == CLEF_OK);
  clef_runtime_options_free(options);
  CHECK(clef_source_create(h->runtime, &h->source, NULL) == CLEF_OK);
  CHECK(clef_source_add_path(h->source, NULL, 0, path, CLEF_NUL, NULL) == CLEF_OK);
  CHECK(clef_model_load(h->runtime, h->source, NULL, &h->model, NULL) == CLEF_OK);
  CHECK(clef_session_create(h->model, &h->session, NULL) == CLEF_OK);
}

static void tear_down(struct handles* h) {
  clef_session_free(h->session);
  clef_model_free(h->model);
  clef_source_free(h->source);
  clef_runtime_free(h->runtime);
}

static clef_status decide(struct handles* h) {
  clef_decision* decision = NULL;
  const clef_status status = clef_decide_json(h->session, REQUEST, CLEF_NUL, NULL, &decision, NULL);
  CHECK((decision != NULL) == (status == CLEF_OK));
  clef_decision_free(decision);
  return status;
}

static void in_child(struct handles* h, clef_status expected) {
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    clef_model* again = NULL;
    clef_run* run = NULL;
    clef_state* state = NULL;
    clef_schema* schema = NULL;
    static const char kSchema[] = "{\"a\":{\"type\":\"noul\"}}";
    alarm(60);
    CHECK(decide(h) == expected);
    CHECK(clef_model_load(h->runtime, h->source, NULL, &again, NULL) == expected);
    clef_model_free(again);
    CHECK(clef_state_create(&state, NULL) == CLEF_OK);
    CHECK(clef_schema_parse(kSchema, CLEF_NUL, NULL, &schema, NULL) == CLEF_OK);
    CHECK(clef_run_start(h->session, schema, state, NULL, &run, NULL) == expected);
    clef_run_free(run);
    clef_schema_free(schema);
    clef_state_free(state);
    tear_down(h);
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int count, char** arguments) {
  struct handles h;
  CHECK(count == 2);
  alarm(120);

  set_up(&h, arguments[1], 3);
  CHECK(decide(&h) == CLEF_OK); /* starts the pool */
  in_child(&h, CLEF_FORKED);
  CHECK(decide(&h) == CLEF_OK); /* the parent goes on */
  tear_down(&h);

  set_up(&h, arguments[1], 1);
  CHECK(decide(&h) == CLEF_OK);
  in_child(&h, CLEF_OK);
  CHECK(decide(&h) == CLEF_OK);
  tear_down(&h);

  /* A pool that was never used has no threads to lose. */
  {
    clef_runtime* fresh = NULL;
    CHECK(clef_runtime_create(CLEF_ABI_VERSION, NULL, &fresh, NULL) == CLEF_OK);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      memset(&h, 0, sizeof h);
      h.runtime = fresh;
      alarm(60);
      CHECK(clef_source_create(h.runtime, &h.source, NULL) == CLEF_OK);
      CHECK(clef_source_add_path(h.source, NULL, 0, arguments[1], CLEF_NUL, NULL) == CLEF_OK);
      CHECK(clef_model_load(h.runtime, h.source, NULL, &h.model, NULL) == CLEF_OK);
      CHECK(clef_session_create(h.model, &h.session, NULL) == CLEF_OK);
      CHECK(decide(&h) == CLEF_OK);
      tear_down(&h);
      _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    clef_runtime_free(fresh);
  }
  return 0;
}
