#include "handles.hpp"
#include "strings.hpp"

namespace clef::capi {

namespace {

// The pictures of a request, which keep its bytes.
std::vector<decide::Picture> take_pictures(std::vector<schema::EncodedImage> images, decide::Media& media) {
  const auto owner = std::make_shared<const std::vector<schema::EncodedImage>>(std::move(images));
  media.owners.push_back(owner);
  std::vector<decide::Picture> pictures;
  for (const schema::EncodedImage& image : *owner) pictures.push_back({std::as_bytes(std::span(image.bytes)), {}});
  return pictures;
}

// A whole request, and what comes behind its own pictures and videos.
Status decide_request(clef_session& session, const char* request, size_t size, const decide::Media& more,
                      const clef_options* options, clef_decision** decision) {
  DecideSettings settings = settings_of(options);
  CLEF_ASSIGN_OR_RETURN(const BusySession busy, BusySession::take(session.state));
  decide::Media media;
  CLEF_ASSIGN_OR_RETURN(schema::Request parsed, parse_request(request, size, settings, media));
  media.images.insert(media.images.end(), more.images.begin(), more.images.end());
  media.videos.insert(media.videos.end(), more.videos.begin(), more.videos.end());
  media.owners.insert(media.owners.end(), more.owners.begin(), more.owners.end());
  CLEF_ASSIGN_OR_RETURN(decide::Decision result,
                        busy->session->decide(parsed.schema, parsed.state, settings.for_call(), std::move(media)));
  if (parsed.model) result.model = std::move(*parsed.model);
  CLEF_ASSIGN_OR_RETURN(auto made, make_decision(std::move(result), settings.json, *busy->loaded->runtime));
  *decision = made.release();
  return {};
}

}  // namespace

Result<schema::Request> parse_request(const char* request, size_t size, DecideSettings& settings,
                                      decide::Media& media) {
  CLEF_ASSIGN_OR_RETURN(const std::string_view text, raw_text(request, size, "request"));
  CLEF_ASSIGN_OR_RETURN(schema::Request parsed, schema::parse_request(text, settings.limits));
  media.images = take_pictures(std::move(parsed.images), media);
  for (schema::EncodedVideo& video : parsed.videos)
    media.videos.push_back({take_pictures(std::move(video.frames), media), {}, video.fps, video.sample, {}});
  if (parsed.truncation) settings.decide.truncation = *parsed.truncation;
  return parsed;
}

}  // namespace clef::capi

using namespace clef::capi;

clef_status clef_decide(clef_session* session, const clef_schema* schema, const clef_state* state,
                        const clef_options* options, clef_decision** decision, clef_error** error) {
  clear(decision);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(session, "session"));
    CLEF_RETURN_IF_ERROR(require(schema, "schema"));
    CLEF_RETURN_IF_ERROR(require(state, "state"));
    CLEF_RETURN_IF_ERROR(require(decision, "decision"));
    const DecideSettings settings = settings_of(options);
    CLEF_ASSIGN_OR_RETURN(const BusySession busy, BusySession::take(session->state));
    CLEF_ASSIGN_OR_RETURN(clef::decide::Decision result,
                          busy->session->decide(*schema->schema, state->text(), settings.for_call(), state->media));
    CLEF_ASSIGN_OR_RETURN(auto made, make_decision(std::move(result), settings.json, *busy->loaded->runtime));
    *decision = made.release();
    return {};
  });
}

clef_status clef_decide_json(clef_session* session, const char* request, size_t size, const clef_options* options,
                             clef_decision** decision, clef_error** error) {
  clear(decision);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(session, "session"));
    CLEF_RETURN_IF_ERROR(require(decision, "decision"));
    return decide_request(*session, request, size, {}, options, decision);
  });
}

clef_status clef_decide_json_media(clef_session* session, const char* request, size_t size, const clef_state* media,
                                   const clef_options* options, clef_decision** decision, clef_error** error) {
  clear(decision);
  return guard(error, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(session, "session"));
    CLEF_RETURN_IF_ERROR(require(media, "media"));
    CLEF_RETURN_IF_ERROR(require(decision, "decision"));
    return decide_request(*session, request, size, media->media, options, decision);
  });
}

// One after another; every pair is one call, so that one that fails leaves the others alone.
clef_status clef_decide_many(clef_session* session, size_t count, const clef_schema* const* schemas,
                             const clef_state* const* states, const clef_options* options, clef_decision** decisions,
                             clef_error** errors) {
  const clef_status checked = guard(nullptr, [&]() -> Status {
    CLEF_RETURN_IF_ERROR(require(session, "session"));
    if (count == 0) return {};
    CLEF_RETURN_IF_ERROR(require(schemas, "schemas"));
    CLEF_RETURN_IF_ERROR(require(states, "states"));
    CLEF_RETURN_IF_ERROR(require(decisions, "decisions"));
    return {};
  });
  if (checked != CLEF_OK) return checked;
  for (size_t i = 0; i < count; ++i) {
    decisions[i] = nullptr;
    if (errors) errors[i] = nullptr;
  }
  clef_status first = CLEF_OK;
  for (size_t i = 0; i < count; ++i) {
    const clef_status status =
        clef_decide(session, schemas[i], states[i], options, &decisions[i], errors ? &errors[i] : nullptr);
    if (first == CLEF_OK) first = status;
  }
  return first;
}
