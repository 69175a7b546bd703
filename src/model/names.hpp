// Names of tensors in the two families of files. Inside src/model and src/convert only.
#pragma once

namespace clef::model {

struct Name {
  const char* release;
  const char* gguf;
};

// After "[prefix]" or at the start.
inline constexpr Name kEmbeddings{"embed_tokens.weight", "token_embd.weight"};
inline constexpr Name kFinalNorm{"norm.weight", "output_norm.weight"};

// After "[prefix]layers.N." or "blk.N.".
inline constexpr Name kInputNorm{"input_layernorm.weight", "attn_norm.weight"};
inline constexpr Name kPostNorm{"post_attention_layernorm.weight", "post_attention_norm.weight"};
inline constexpr Name kGate{"mlp.gate_proj.weight", "ffn_gate.weight"};
inline constexpr Name kUp{"mlp.up_proj.weight", "ffn_up.weight"};
inline constexpr Name kDown{"mlp.down_proj.weight", "ffn_down.weight"};
inline constexpr Name kQuery{"self_attn.q_proj.weight", "attn_q.weight"};
inline constexpr Name kKey{"self_attn.k_proj.weight", "attn_k.weight"};
inline constexpr Name kValue{"self_attn.v_proj.weight", "attn_v.weight"};
inline constexpr Name kOut{"self_attn.o_proj.weight", "attn_output.weight"};
inline constexpr Name kQueryNorm{"self_attn.q_norm.weight", "attn_q_norm.weight"};
inline constexpr Name kKeyNorm{"self_attn.k_norm.weight", "attn_k_norm.weight"};
inline constexpr Name kDeltaQkv{"linear_attn.in_proj_qkv.weight", "attn_qkv.weight"};
inline constexpr Name kDeltaZ{"linear_attn.in_proj_z.weight", "attn_gate.weight"};
inline constexpr Name kDeltaA{"linear_attn.in_proj_a.weight", "ssm_alpha.weight"};
inline constexpr Name kDeltaB{"linear_attn.in_proj_b.weight", "ssm_beta.weight"};
inline constexpr Name kDeltaConv{"linear_attn.conv1d.weight", "ssm_conv1d.weight"};
inline constexpr Name kDeltaScale{"linear_attn.A_log", "ssm_a"};
inline constexpr Name kDeltaBias{"linear_attn.dt_bias", "ssm_dt.bias"};
inline constexpr Name kDeltaNorm{"linear_attn.norm.weight", "ssm_norm.weight"};
inline constexpr Name kDeltaOut{"linear_attn.out_proj.weight", "ssm_out.weight"};

// The head; norms and layers without ".weight" and ".bias".
inline constexpr Name kHiddenNorm{"hidden_norm", "decision.hidden_norm"};
inline constexpr Name kSummaryNorm{"option_summary_norm", "decision.option_summary_norm"};
inline constexpr Name kFieldNorm{"field_norm", "decision.field_norm"};
inline constexpr Name kOptionNorm{"option_norm", "decision.option_norm"};
inline constexpr Name kMemory{"memory_projection.weight", "decision.proj_memory.weight"};
inline constexpr Name kQuestion{"question_projection.weight", "decision.proj_question.weight"};
inline constexpr Name kOptionQuestion{"option_question_projection.weight", "decision.proj_option_question.weight"};
inline constexpr Name kGlobal{"global_projection.weight", "decision.proj_global.weight"};
inline constexpr Name kOptionContext{"option_context_projection.weight", "decision.proj_option_context.weight"};
inline constexpr Name kOptionLexical{"option_lexical_projection.weight", "decision.proj_option_lexical.weight"};
inline constexpr Name kTypes{"type_embedding.weight", "token_types.weight"};
inline constexpr Name kScorer{"residual_scorer.0", "decision.scorer"};
inline constexpr Name kScorerOut{"residual_scorer.3", "decision.scorer_out"};

// After "evidence_layers.N." or "dec.blk.N.".
inline constexpr Name kEvidenceQueryNorm{"query_norm", "cross_attn_norm"};
inline constexpr Name kEvidenceMemoryNorm{"memory_norm", "cross_attn_norm_kv"};
inline constexpr Name kEvidenceFeedForwardNorm{"feedforward_norm", "ffn_norm"};
inline constexpr Name kEvidenceAttention{"attention.", "cross_attn_"};
inline constexpr Name kEvidenceUp{"feedforward.0", "ffn_up"};
inline constexpr Name kEvidenceDown{"feedforward.3", "ffn_down"};

// After "layers.N." or "dec.blk.M.", M counting on from the evidence layers.
inline constexpr Name kDecoderSelfNorm{"norm1", "attn_norm"};
inline constexpr Name kDecoderCrossNorm{"norm2", "cross_attn_norm"};
inline constexpr Name kDecoderFeedForwardNorm{"norm3", "ffn_norm"};
inline constexpr Name kDecoderSelf{"self_attn.", "attn_"};
inline constexpr Name kDecoderCross{"multihead_attn.", "cross_attn_"};
inline constexpr Name kDecoderUp{"linear1", "ffn_up"};
inline constexpr Name kDecoderDown{"linear2", "ffn_down"};

// The vision tower, after "model.visual." or at the start; layers without ".weight" and ".bias".
inline constexpr Name kVisionPatch{"patch_embed.proj", "v.patch_embd"};
inline constexpr Name kVisionPositions{"pos_embed.weight", "v.position_embd.weight"};
inline constexpr Name kVisionMergerNorm{"merger.norm", "v.post_ln"};
inline constexpr Name kVisionMergerUp{"merger.linear_fc1", "mm.0"};
inline constexpr Name kVisionMergerDown{"merger.linear_fc2", "mm.2"};

// After "model.visual.blocks.B." or "v.blk.B.".
inline constexpr Name kVisionNorm1{"norm1", "ln1"};
inline constexpr Name kVisionNorm2{"norm2", "ln2"};
inline constexpr Name kVisionQkv{"attn.qkv", "attn_qkv"};
inline constexpr Name kVisionOut{"attn.proj", "attn_out"};
inline constexpr Name kVisionUp{"mlp.linear_fc1", "ffn_up"};
inline constexpr Name kVisionDown{"mlp.linear_fc2", "ffn_down"};

// The head's scalars: three tensors in the release, one of three values in GGUF files.
inline constexpr const char* kPriorScale = "prior_logit_scale";
inline constexpr const char* kJointScale = "joint_logit_scale";
inline constexpr const char* kResidualGate = "residual_gate";
inline constexpr const char* kScales = "decision.scales";

}  // namespace clef::model
