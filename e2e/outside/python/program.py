"""OpenAI's client for Python, as it comes: what its README shows, and a loop of two tools at each door.

Prints one line of JSON for each check: {"check": name, "error": null or what went wrong}.
"""

import json
import os
import sys
from typing import List

import openai
from openai import OpenAI
from pydantic import BaseModel

MODEL = "text.general.fast.v1"
QUESTION = {"role": "user", "content": "Use get_weather, then get_time."}
FOUND = {"get_weather": "sunny-4711", "get_time": "noon-4712"}
CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}

client = OpenAI(base_url=os.environ["CAPSTAN_BASE_URL"] + "/v1", api_key=os.environ["CAPSTAN_API_KEY"])


class CalendarEvent(BaseModel):
    name: str
    participants: List[str]


def chat_loop():
    tools = [{"type": "function", "function": {"name": name, "parameters": CITY}} for name in FOUND]
    messages = [QUESTION]
    while True:
        message = client.chat.completions.create(model=MODEL, messages=messages, tools=tools).choices[0].message
        messages.append(message)
        if not message.tool_calls:
            break
        for call in message.tool_calls:
            json.loads(call.function.arguments)["city"]
            messages.append({"role": "tool", "tool_call_id": call.id, "content": FOUND[call.function.name]})
    assert all(found in message.content for found in FOUND.values()), message.content


def responses_loop():
    tools = [{"type": "function", "name": name, "parameters": CITY, "strict": True} for name in FOUND]
    given = [QUESTION]
    while True:
        response = client.responses.create(model=MODEL, input=given, tools=tools)
        given += response.output
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls:
            break
        for call in calls:
            given.append({"type": "function_call_output", "call_id": call.call_id, "output": FOUND[call.name]})
    assert all(found in response.output_text for found in FOUND.values()), response.output_text


def streaming_chat():
    stream = client.chat.completions.create(
        model=MODEL, messages=[{"role": "user", "content": "Say this is a test"}], stream=True
    )
    assert sum(1 for chunk in stream if chunk.choices and chunk.choices[0].delta.content) > 2


def streaming_responses():
    with client.responses.stream(model=MODEL, input="Say this is a test") as stream:
        types = {event.type for event in stream}
        assert "response.output_text.delta" in types and stream.get_final_response().output_text


def structured_chat():
    completion = client.chat.completions.parse(
        model=MODEL,
        messages=[{"role": "user", "content": "Alice and Bob go to a science fair."}],
        response_format=CalendarEvent,
    )
    assert isinstance(completion.choices[0].message.parsed, CalendarEvent)


def structured_responses():
    response = client.responses.parse(
        model=MODEL, input="Alice and Bob go to a science fair.", text_format=CalendarEvent
    )
    assert isinstance(response.output_parsed, CalendarEvent)


def embeddings():
    answer = client.embeddings.create(model="text.embed.v1", input=["one", "two"])
    assert len(answer.data) == 2 and len(answer.data[0].embedding) > 7


def models():
    assert MODEL in [model.id for model in client.models.list()]


def refusal():
    try:
        client.chat.completions.create(model="gpt-4o", messages=[QUESTION])
    except openai.APIStatusError as error:
        assert error.body["param"] == "model", error.body
    else:
        raise AssertionError("it was answered")


for work in [
    chat_loop,
    responses_loop,
    streaming_chat,
    streaming_responses,
    structured_chat,
    structured_responses,
    embeddings,
    models,
    refusal,
]:
    error = None
    try:
        work()
    except Exception as cause:  # whatever it is, it belongs in the table
        error = f"{type(cause).__name__}: {cause}"
    print(json.dumps({"check": work.__name__.replace("_", " "), "error": error}), flush=True)
sys.exit(0)
