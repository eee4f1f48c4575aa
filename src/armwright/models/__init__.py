"""Language models and embeddings behind plug points: chat models, text embeddings, ONNX networks."""
