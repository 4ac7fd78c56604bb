"""The facts that plans are made with."""

from cfbatch_gui.core.workers_ai.catalogue import MODELS, ModelFacts, find_model


def test_bge_m3_ranks_and_has_the_limits_of_its_page() -> None:
    facts = find_model("@cf/baai/bge-m3")
    assert facts.can_rank
    assert facts.batch
    assert (facts.dimension, facts.max_tokens, facts.padded_tokens) == (1_024, 8_192, 60_000)
    assert (facts.texts_per_request, facts.poolings, facts.neurons_per_million) == (100, (), 1_075)


def test_the_english_models_embed_with_a_choice_of_pooling() -> None:
    def facts(size: str) -> ModelFacts:
        return find_model(f"@cf/baai/bge-{size}-en-v1.5")

    assert [facts(size).dimension for size in ("small", "base", "large")] == [384, 768, 1_024]
    assert [facts(size).neurons_per_million for size in ("small", "base", "large")] == [1_841, 6_058, 18_582]
    assert {facts(size).poolings for size in ("small", "base", "large")} == {("mean", "cls")}
    assert not any(facts(size).can_rank for size in ("small", "base", "large"))
    assert {facts(size).max_tokens for size in ("small", "base", "large")} == {512}


def test_a_model_that_is_not_listed_gets_cautious_facts() -> None:
    facts = find_model("@cf/someone/new-embedder")
    assert (facts.name, facts.title) == ("@cf/someone/new-embedder", "new-embedder")
    assert not (facts.is_listed or facts.can_rank or facts.batch)
    assert facts.max_tokens <= min(model.max_tokens for model in MODELS)
    assert facts.neurons_per_million >= max(model.neurons_per_million for model in MODELS)
    assert facts.dimension == 0
