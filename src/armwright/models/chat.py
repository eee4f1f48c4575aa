"""Chat models behind one interface: ask for a typed answer, get it validated, with what it cost."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from armwright.core.errors import MissingDependencyError, ModelError, UnknownNameError, UsageError, quoted
from armwright.core.plugins import load_plugin, plugin_names
from armwright.core.settings import Settings, get_settings

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model

T = TypeVar("T", bound=BaseModel)
R = TypeVar("R")
ENTRY_POINT_GROUP = "armwright.chat_models"
_PREVIEW = 300
"""Characters of a broken answer that an error shows."""


@dataclass(frozen=True)
class ModelUse:
    """What one answer took.

    Attributes:
        requests: HTTP requests that were answered, retries included.
        input_tokens, output_tokens: As the provider counted them.
        cost_usd: Price, or None where the model's price is not known.
        latency_s: Wall time from the question to the validated answer [s].
    """

    requests: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    latency_s: float


@dataclass(frozen=True)
class ChatAnswer(Generic[T]):
    """A validated answer and what it took."""

    value: T
    use: ModelUse


class ChatModel(Protocol):
    """Answers a prompt with a value of a pydantic type."""

    name: str

    def ask(
        self,
        prompt: str,
        schema: type[T],
        *,
        system: str,
        check: Callable[[T], None] | None = None,
        images: Sequence[bytes] = (),
    ) -> ChatAnswer[T]:
        """Return a validated answer.

        Args:
            prompt: The question.
            schema: Type of the answer.
            system: Standing instructions.
            check: Looks at an answer of the right type; a ``ValueError`` it raises is shown to the model, which may
                try again.
            images: Pictures that the question is about, each a PNG or JPEG file.

        Raises:
            ModelError: Unreachable, refused, timed out, or broken after all retries; the message says what to do.
        """
        ...


ModelFactory = Callable[[str, Settings], ChatModel]


class PydanticAiModel:
    """A chat model of an OpenAI-compatible or Anthropic endpoint, through pydantic-ai.

    Args:
        name: ``provider:model`` as the user gave it.
        build: Makes the pydantic-ai model inside the event loop that will use it.
        endpoint: Where it is asked, for messages.
        settings: Timeout and retries.
    """

    def __init__(self, name: str, build: Callable[[], Model[Any]], *, endpoint: str, settings: Settings) -> None:
        self.name = name
        self._build = build
        self._endpoint = endpoint
        self._timeout_s = settings.model_timeout_s
        self._retries = settings.model_retries

    def ask(
        self,
        prompt: str,
        schema: type[T],
        *,
        system: str,
        check: Callable[[T], None] | None = None,
        images: Sequence[bytes] = (),
    ) -> ChatAnswer[T]:
        """Return a validated answer (see ``ChatModel.ask``)."""
        return _run(lambda: self._ask(prompt, schema, system, check, images))

    async def _ask(
        self,
        prompt: str,
        schema: type[T],
        system: str,
        check: Callable[[T], None] | None,
        images: Sequence[bytes],
    ) -> ChatAnswer[T]:
        from pydantic_ai import Agent, BinaryContent, ModelRetry, capture_run_messages

        agent: Agent[None, T] = Agent(self._build(), output_type=schema, instructions=system, retries=self._retries)

        @agent.output_validator
        def validate(value: T) -> T:
            if check is not None:
                try:
                    check(value)
                except ValueError as error:
                    raise ModelRetry(str(error)) from error
            return value

        asked: list[BinaryContent | str] = [BinaryContent(data=i, media_type=_media_type(i)) for i in images]
        asked.append(prompt)
        started = time.perf_counter()
        with capture_run_messages() as messages:
            try:
                async with asyncio.timeout(self._timeout_s):
                    result = await agent.run(asked if images else prompt)
            except Exception as error:
                raise self._explain(error, messages) from error
        usage = result.usage
        return ChatAnswer(
            result.output,
            ModelUse(
                requests=usage.requests,
                input_tokens=usage.input_tokens or 0,
                output_tokens=usage.output_tokens or 0,
                cost_usd=_cost(messages),
                latency_s=time.perf_counter() - started,
            ),
        )

    def _explain(self, error: Exception, messages: list[ModelMessage]) -> ModelError:
        from pydantic_ai import exceptions as x

        who = f"model {self.name} at {self._endpoint}"
        provider = self.name.partition(":")[0].upper()
        if isinstance(error, (TimeoutError, x.ModelTimeoutError)):
            return ModelError(
                f"{who} gave no answer within {self._timeout_s:g} s.",
                hint="Try again, raise ARMWRIGHT_MODEL_TIMEOUT_S, or leave --model out to use the built-in parser.",
            )
        if isinstance(error, x.ModelAuthenticationError):
            return ModelError(f"{who} refused the key.", hint=f"Set {provider}_API_KEY to a valid key.")
        if isinstance(error, x.ModelNotFoundError):
            return ModelError(f"{who} does not exist there.", hint="Check the name after --model.")
        if isinstance(error, (x.ModelRateLimitError, x.ModelQuotaExceededError)):
            return ModelError(
                f"{who} refused: rate or quota exceeded.", hint="Wait and try again, or use another model."
            )
        if isinstance(error, x.ModelHTTPError):
            return ModelError(
                f"{who} answered HTTP {error.status_code}: {_clip(str(error.body))}.",
                hint="Try again later, or use another model.",
            )
        if isinstance(error, x.ModelConnectionError):
            return ModelError(
                f"{who} cannot be reached: {_clip(str(error))}.", hint=f"Check the network and {provider}_BASE_URL."
            )
        if isinstance(error, x.UnexpectedModelBehavior):
            return ModelError(
                f"{who} gave no usable answer after {self._retries + 1} tries. Last answer: {_last_answer(messages)}",
                hint="Use a more capable model, raise ARMWRIGHT_MODEL_RETRIES, or leave --model out.",
            )
        return ModelError(f"{who} failed: {type(error).__name__}: {_clip(str(error))}.", hint="Try another model.")


def _run(make: Callable[[], Coroutine[Any, Any, R]]) -> R:
    """Run a coroutine to its end, also when this thread already runs an event loop."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(make())
    box: list[R] = []
    failures: list[BaseException] = []

    def work() -> None:
        try:
            box.append(asyncio.run(make()))
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if failures:
        raise failures[0]
    return box[0]


def _media_type(image: bytes) -> str:
    if image.startswith(b"\x89PNG"):
        return "image/png"
    if image.startswith(b"\xff\xd8"):
        return "image/jpeg"
    raise UsageError("an image for a chat model is neither PNG nor JPEG.", hint="Encode it as one of them.")


def _clip(text: str) -> str:
    text = " ".join(text.split())
    return text.rstrip(".") if len(text) <= _PREVIEW else text[:_PREVIEW] + " …"


def _last_answer(messages: list[ModelMessage]) -> str:
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart

    for message in reversed(messages):
        if isinstance(message, ModelResponse):
            parts = [
                part.content if isinstance(part, TextPart) else part.args_as_json_str()
                for part in message.parts
                if isinstance(part, (TextPart, ToolCallPart))
            ]
            return _clip(" ".join(parts)) or "(empty)"
    return "(none)"


def _cost(messages: list[ModelMessage]) -> float | None:
    from pydantic_ai.messages import ModelResponse

    total = 0.0
    for message in messages:
        if isinstance(message, ModelResponse):
            try:
                total += float(message.cost().total_price)
            except (LookupError, AssertionError, ValueError):
                return None
    return total


def _key(name: str, value: Any, base_url: str | None) -> str:
    """Return the key; a server of one's own often needs none."""
    if value is not None:
        key = str(value.get_secret_value()).strip()
        if not key.isascii() or not key.isprintable():
            raise ModelError(
                f"the key in {name.upper()}_API_KEY holds characters that no HTTP header may carry.",
                hint="Set it again, as the provider gave it.",
            )
        return key
    if base_url is not None:
        return "none"
    raise ModelError(
        f"no key for {name} models.",
        hint=f"Set {name.upper()}_API_KEY, or {name.upper()}_BASE_URL for a server of your own, or leave --model out.",
    )


def _require(module: str) -> None:
    from importlib.util import find_spec

    if find_spec(module) is None:
        raise MissingDependencyError(
            f"chat models need {module}.", hint="pip install 'pydantic-ai-slim[openai,anthropic]'"
        )


def _openai(name: str, settings: Settings) -> ChatModel:
    key = _key("openai", settings.openai_api_key, settings.openai_base_url)
    _require("openai")

    def build() -> Model[Any]:
        from openai import AsyncOpenAI
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        client = AsyncOpenAI(
            api_key=key,
            base_url=settings.openai_base_url or "https://api.openai.com/v1",
            max_retries=settings.model_retries,
            timeout=settings.model_timeout_s,
        )
        return OpenAIChatModel(name, provider=OpenAIProvider(openai_client=client))

    endpoint = settings.openai_base_url or "api.openai.com"
    return PydanticAiModel(f"openai:{name}", build, endpoint=endpoint, settings=settings)


def _anthropic(name: str, settings: Settings) -> ChatModel:
    key = _key("anthropic", settings.anthropic_api_key, settings.anthropic_base_url)
    _require("anthropic")

    def build() -> Model[Any]:
        from anthropic import AsyncAnthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        client = AsyncAnthropic(
            api_key=key,
            base_url=settings.anthropic_base_url or "https://api.anthropic.com",
            max_retries=settings.model_retries,
            timeout=settings.model_timeout_s,
        )
        return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))

    endpoint = settings.anthropic_base_url or "api.anthropic.com"
    return PydanticAiModel(f"anthropic:{name}", build, endpoint=endpoint, settings=settings)


_PROVIDERS: Mapping[str, ModelFactory] = {"openai": _openai, "anthropic": _anthropic}


def chat_model(name: str, *, settings: Settings | None = None) -> ChatModel:
    """Return the chat model of that name; nothing is sent yet.

    Args:
        name: ``openai:NAME`` or ``anthropic:NAME``; other packages add providers through the entry-point group
            ``armwright.chat_models``.
        settings: Where and how it is asked; by default what the environment says.

    Raises:
        UsageError: The name has no provider.
        UnknownNameError: The provider is not known.
        ModelError: There is no key.
    """
    provider, colon, model = name.partition(":")
    if not colon or not model:
        raise UsageError(f"model {quoted(name)} names no provider.", hint="Write openai:NAME or anthropic:NAME.")
    factory: ModelFactory | None = _PROVIDERS.get(provider) or load_plugin(ENTRY_POINT_GROUP, provider)
    if factory is None:
        raise UnknownNameError("model provider", provider, {*_PROVIDERS, *plugin_names(ENTRY_POINT_GROUP)})
    return factory(model, settings or get_settings())
