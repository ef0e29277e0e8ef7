"""Language models: one provider protocol, those who speak it over HTTP, and the prompts."""

from groundwire_server.llm.accounts import model_usage
from groundwire_server.llm.chat import ChatRequest, Finish, Message, ModelProvider, Reply, Stop, go_on
from groundwire_server.llm.config import PROVIDERS, ApiKey, JsonMode, ModelConfig
from groundwire_server.llm.counted import CountedCalls
from groundwire_server.llm.factory import make_provider
from groundwire_server.llm.faults import ModelAnswerUnusable, ModelFailed
from groundwire_server.llm.json_answer import ask_json, parse_json
from groundwire_server.llm.prompt import Prompt, load_prompt, prompt_names
from groundwire_server.llm.scripted import Answer, ScriptedProvider
from groundwire_server.llm.usage import Prices, Usage, UsageMeter

__all__ = [
    "PROVIDERS",
    "Answer",
    "ApiKey",
    "ChatRequest",
    "CountedCalls",
    "Finish",
    "JsonMode",
    "Message",
    "ModelAnswerUnusable",
    "ModelConfig",
    "ModelFailed",
    "ModelProvider",
    "Prices",
    "Prompt",
    "Reply",
    "ScriptedProvider",
    "Stop",
    "Usage",
    "UsageMeter",
    "ask_json",
    "go_on",
    "load_prompt",
    "make_provider",
    "model_usage",
    "parse_json",
    "prompt_names",
]
