"""Stories of a first run: a model is offered, fetched, stopped, gone on with, and not spoken of any more."""

import pytest
from msgspec import structs

from offhook_app.state.models import ModelNotice, Models, Role, Way, megabytes
from offhook_wire.messages import ModelFetch, ModelStatus, ModelStop, ServerStatus

pytestmark = pytest.mark.pure

FETCH, STOP, GO_ON, NOT_NOW = (
    Way("Fetch", "fetch"),
    Way("Stop", "stop"),
    Way("Go on", "fetch"),
    Way("Not now", "not_now"),
)
FAST = ModelStatus(
    "small", "fast", "absent", None, "small is not here.", 491_400_064, "Apache-2.0", "the hub", "/home/ada/models"
)
DEEP = structs.replace(FAST, name="large", role="deep", size_bytes=1_117_320_768, folder="/srv/models")


class Story:
    def __init__(self) -> None:
        self.models = Models("/home/ada")
        self.server = {"fast": FAST, "deep": DEEP}
        self.hear()

    def hear(self, role: Role = "fast", **changed: object) -> None:
        self.server[role] = structs.replace(self.server[role], **changed)
        self.models.hears(ServerStatus("absent", "small", models=list(self.server.values())))

    def notice(self, role: Role = "fast") -> ModelNotice:
        notice = self.models.notice(role)
        assert notice is not None
        return notice


def test_before_the_server_has_spoken_nothing_is_said() -> None:
    models = Models("/home/ada")
    models.wants("deep")
    assert models.notice("fast") is None
    assert models.notice("deep") is None


def test_the_offer_says_size_licence_source_and_folder_before_anything_is_fetched() -> None:
    offer = Story().notice()
    assert offer.words == "The small model is not here yet: suggestions come from your own code only."
    assert offer.detail == "small · 491 MB · Apache-2.0 · from the hub · into ~/models"
    assert offer.ways == (FETCH, NOT_NOW)


def test_the_deep_model_is_offered_when_it_is_wanted_and_again_when_it_is_wanted_again() -> None:
    story = Story()
    assert story.models.notice("deep") is None
    story.models.wants("deep")
    assert story.notice("deep").detail == "large · 1,117 MB · Apache-2.0 · from the hub · into /srv/models"
    assert story.models.pressed("deep", "not_now") is None
    assert story.models.notice("deep") is None
    story.models.wants("deep")
    assert story.notice("deep").ways == (FETCH, NOT_NOW)


def test_not_now_lasts_whatever_the_server_repeats() -> None:
    story = Story()
    story.models.pressed("fast", "not_now")
    story.hear(detail="still not here.")
    assert story.models.notice("fast") is None


def test_a_download_is_told_in_words_and_then_there_is_nothing_more_to_say() -> None:
    story = Story()
    assert story.models.pressed("fast", "fetch") == ModelFetch("small")
    story.hear(state="downloading", detail="")
    assert story.notice().words == "Fetching small: looking for a source"
    assert story.notice().ways == (STOP,)
    story.hear(share=0.5)
    assert story.notice().words == "Fetching small: 246 of 491 MB"
    story.hear(share=0.25, detail="checking what arrived")
    assert story.notice().words == "small: checking what arrived, 25 %"
    story.hear(state="asleep", share=None, detail="")
    assert story.models.notice("fast") is None


def test_stopped_by_the_person_it_can_go_on() -> None:
    story = Story()
    story.hear(state="downloading", share=0.5)
    assert story.models.pressed("fast", "stop") == ModelStop("small")
    story.hear(state="absent", share=None)
    assert story.notice().words == "small: Stopped. What has arrived is kept."
    assert story.notice().ways == (GO_ON, NOT_NOW)
    assert story.models.pressed("fast", "fetch") == ModelFetch("small")


def test_a_download_that_failed_says_what_mends_it() -> None:
    story = Story()
    story.hear(state="downloading")
    story.hear(state="absent", detail="The disk is full.")
    assert story.notice() == ModelNotice(
        "warn", "The disk is full.", "small · 491 MB · Apache-2.0 · from the hub · into ~/models", (GO_ON, NOT_NOW)
    )


def test_a_model_that_went_later_is_offered_as_at_first() -> None:
    story = Story()
    story.hear(state="downloading")
    story.hear(state="ready")
    story.hear(state="absent")
    assert story.notice().ways == (FETCH, NOT_NOW)


def test_a_file_of_the_persons_own_is_not_offered_but_said_to_be_missing() -> None:
    story = Story()
    story.hear(size_bytes=0, detail="The model file is not there.")
    assert story.notice() == ModelNotice("warn", "The model file is not there.", "", (NOT_NOW,))


@pytest.mark.parametrize(
    ("role", "detail", "words"),
    [
        ("fast", "The model file is damaged.", "The model file is damaged."),
        ("fast", "", "The small model did not start. Suggestions come from your own code only."),
        ("deep", "", "The deep model did not start. Answers come from the small model."),
    ],
)
def test_a_model_that_does_not_start_is_said(role: Role, detail: str, words: str) -> None:
    story = Story()
    story.hear(role, state="failed", detail=detail)
    assert story.notice(role) == ModelNotice("warn", words)


def test_megabytes_are_decimal() -> None:
    assert megabytes(1_117_320_768) == "1,117 MB"
