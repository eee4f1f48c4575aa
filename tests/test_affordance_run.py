"""The learned affordance in the whole pipeline: the model is given the cloud and the region's name, and no labels."""

from __future__ import annotations

import pytest

from armwright.affordance import registry
from armwright.affordance.networks import NetworkAffordance
from armwright.generate.episode import EpisodeRequest, run_episode
from conftest import FIVE_SENTENCES


@pytest.mark.slow
def test_the_mug_is_taken_by_the_handle_that_the_network_found(session_of, task, monkeypatch):
    asked = []
    predict = NetworkAffordance.predict

    def watched(self, cloud, query):
        answer = predict(self, cloud, query)
        asked.append((query.region, answer))
        return answer

    monkeypatch.setattr(NetworkAffordance, "predict", watched)
    assert "handle" in FIVE_SENTENCES[0]
    episode = run_episode(session_of("franka"), EpisodeRequest(task(FIVE_SENTENCES[0]), 1, affordance="learned"))
    assert episode.success, episode.graded
    assert asked and asked[0][0] == "Graspable Handle"
    assert all(answer.model == "learned" for _, answer in asked)
    # Compliance is judged from part labels that the network never saw.
    assert episode.graded.shares["mug_1"] >= 0.8
    assert registry.affordance_model("learned") is registry.affordance_model("learned"), "networks are read once"
