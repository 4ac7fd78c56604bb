"""The metadata of models, on which plans are based."""

from cfbatch_gui.core.workers_ai.catalogue import MODELS, ModelMetadata, find_model


def test_bge_m3_ranks_and_has_the_limits_of_its_page() -> None:
    metadata = find_model("@cf/baai/bge-m3")
    assert metadata.can_rank
    assert metadata.batch
    assert (metadata.dimension, metadata.max_tokens, metadata.padded_tokens) == (1_024, 8_192, 60_000)
    assert (metadata.texts_per_request, metadata.poolings, metadata.neurons_per_million) == (100, (), 1_075)


def test_the_english_models_embed_with_a_choice_of_pooling() -> None:
    def metadata(size: str) -> ModelMetadata:
        return find_model(f"@cf/baai/bge-{size}-en-v1.5")

    assert [metadata(size).dimension for size in ("small", "base", "large")] == [384, 768, 1_024]
    assert [metadata(size).neurons_per_million for size in ("small", "base", "large")] == [1_841, 6_058, 18_582]
    assert {metadata(size).poolings for size in ("small", "base", "large")} == {("mean", "cls")}
    assert not any(metadata(size).can_rank for size in ("small", "base", "large"))
    assert {metadata(size).max_tokens for size in ("small", "base", "large")} == {512}


def test_a_model_that_is_not_listed_gets_cautious_metadata() -> None:
    metadata = find_model("@cf/someone/new-embedder")
    assert (metadata.name, metadata.title) == ("@cf/someone/new-embedder", "new-embedder")
    assert not (metadata.is_listed or metadata.can_rank or metadata.batch)
    assert metadata.max_tokens <= min(model.max_tokens for model in MODELS)
    assert metadata.neurons_per_million >= max(model.neurons_per_million for model in MODELS)
    assert metadata.dimension == 0
