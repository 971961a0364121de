"""Works out what a table of cases costs, from the price data alone, and writes fixtures/cases.json.

    npm run prices && python3 testing/corpora/prices/cases.py

Nothing here is taken from the product's code: amounts are decimal US dollars, added up exactly and rounded up once to a
whole micro; the service fee is a percentage of that, rounded half up once. The product's own arithmetic (integers) is
held to this table by cases.test.ts.
"""

import json
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal, getcontext
from pathlib import Path

getcontext().prec = 120
HERE = Path(__file__).parent / "fixtures"
DATA = json.loads((HERE / "prices.json").read_text())
PRICES = DATA["prices"]
MICRO = Decimal(1) / Decimal(1_000_000)
FEE = Decimal(DATA["serviceFeeBps"]) / Decimal(10_000)


def dollars(micros):
    return Decimal(micros) * MICRO


def up_to_micros(amount):
    return int((amount / MICRO).to_integral_value(rounding=ROUND_CEILING))


def tokens_cost(price, usage, tier):
    """Dollars for tokens, or None where the usage or the price does not tell."""
    if "inputTokens" not in usage or "outputTokens" not in usage:
        return None
    share = Decimal(1)
    if tier == "flex":
        if "flexDiscountBps" not in price:
            return None
        share -= Decimal(price["flexDiscountBps"]) / Decimal(10_000)
    cached = min(usage.get("cachedInputTokens", 0), usage["inputTokens"])
    thought = min(usage.get("reasoningTokens", 0), usage["outputTokens"])
    written = min(usage.get("cacheWriteTokens", 0), usage["inputTokens"] - cached)
    hour = min(usage.get("cacheWriteHourTokens", 0), written)
    writes = price.get("cacheWrite", {"5m": price["input"], "1h": price["input"]})
    parts = [
        (usage["inputTokens"] - cached - written, price["input"]),
        (written - hour, writes["5m"]),
        (hour, writes["1h"]),
        (cached, price.get("cachedInput", price["input"])),
        (usage["outputTokens"] - thought, price["output"]),
        (thought, price.get("reasoning", price["output"])),
    ]
    whole = sum((Decimal(count) * dollars(rate) for count, rate in parts), Decimal(0))
    return whole / Decimal(1_000_000) * share


def one_image(size, quality):
    listed = size["micros"]
    return dollars(listed[quality] if quality in listed else max(listed.values()))


def images_cost(price, usage, terms):
    if "images" not in usage:
        return None
    count = Decimal(usage["images"])
    quality = terms.get("quality")
    area = Decimal(terms["width"]) * Decimal(terms["height"])
    for size in price["sizes"]:
        if (size["width"], size["height"]) == (terms["width"], terms["height"]):
            return count * one_image(size, quality)
    bounds = []
    for size in price["sizes"]:
        listed = Decimal(size["width"]) * Decimal(size["height"])
        bounds.append(count * one_image(size, quality) * max(area, listed) / listed)
    return max(bounds)


def cost(name, usage, terms):
    price = PRICES[name]
    kind = price["per"]
    if terms.get("tier") == "flex" and kind != "million_tokens":
        return None
    if kind == "million_tokens":
        return tokens_cost(price, usage, terms.get("tier", "standard"))
    if kind == "image":
        return images_cost(price, usage, terms)
    field, unit = {
        "second": ("durationMs", Decimal(1000)),
        "million_characters": ("characters", Decimal(1_000_000)),
        "mesh": ("meshes", Decimal(1)),
        "request": ("requests", Decimal(1)),
    }[kind]
    rate = price.get("texturedMicros", price["micros"]) if terms.get("textured") else price["micros"]
    return None if field not in usage else Decimal(usage[field]) * dollars(rate) / unit


def at_most(name, bounds, terms):
    """The most that anything inside the bounds can cost: each token at the dearest rate it may turn out to have."""
    price = PRICES[name]
    if price["per"] != "million_tokens":
        return cost(name, bounds, terms)
    writes = price.get("cacheWrite", {}).values() if "cacheWriteTokens" in bounds else []
    dearest = {
        **price,
        "input": max(price["input"], price.get("cachedInput", 0), *writes),
        "cacheWrite": {time: max(price["input"], 0, *writes) for time in ("5m", "1h")},
        "output": max(price["output"], price.get("reasoning", 0)),
    }
    return tokens_cost(dearest, bounds, terms.get("tier", "standard"))


CASES = []


def with_fee(amount):
    if amount is None:
        return None
    upstream = up_to_micros(amount)
    fee = int((Decimal(upstream) * FEE).to_integral_value(rounding=ROUND_HALF_UP))
    return {"upstreamMicros": upstream, "serviceFeeMicros": fee, "totalMicros": upstream + fee}


def case(title, price, usage, bounds=False, **terms):
    work = at_most if bounds else cost
    CASES.append(
        {
            "title": title,
            "price": price,
            "of": "bounds" if bounds else "usage",
            "usage": usage,
            "terms": terms,
            "expected": with_fee(work(price, usage, terms)),
        }
    )


def tokens(inp, out, cached=None, reasoning=None):
    usage = {"inputTokens": inp, "outputTokens": out}
    if cached is not None:
        usage["cachedInputTokens"] = cached
    if reasoning is not None:
        usage["reasoningTokens"] = reasoning
    return usage


LUNA, TERRA, SOL, MINI = (
    f"openai/{model}/text" for model in ("gpt-5.6-luna", "gpt-5.6-terra", "gpt-5.6-sol", "gpt-4.1-mini")
)
TEXT = [LUNA, TERRA, SOL, MINI, "sandbox/sandbox-1/text", "sandbox/sandbox-2/text"]

for model in TEXT:
    case("a short answer", model, tokens(1_000, 500))
    case("cached input and reasoning", model, tokens(123_457, 4_321, 98_765, 3_210))
    case("an odd count", model, tokens(7, 13))
    case("flex, an odd count", model, tokens(12_345, 6_789, 1_111), tier="flex")
    case("bounds", model, tokens(48_213, 8_192), bounds=True)

case("texts that become vectors", "openai/text-embedding-3-small/embedding", tokens(8_191, 0))
case("bounds of texts that become vectors", "google/gemini-embedding-001/embedding", tokens(20_016, 0), bounds=True)
case("nothing at all", SOL, tokens(0, 0))
case("one token in", SOL, tokens(1, 0))
case("one token out", MINI, tokens(0, 1))
case("one cached token is a tenth of a micro, rounded up", LUNA, tokens(1, 0, 1))
case("ten cached tokens are one micro exactly", LUNA, tokens(10, 0, 10))
case("eleven cached tokens are two", LUNA, tokens(11, 0, 11))
case("more cached than there was input", SOL, tokens(100, 0, 5_000))
case("more reasoning than there was output", "sample/reasoning-apart", tokens(0, 100, None, 5_000))
case("reasoning is part of the output", SOL, tokens(1_000, 2_000, None, 1_500))
case("reasoning priced apart", "sample/reasoning-apart", tokens(1_000, 2_000, None, 1_500))
case("reasoning priced apart, flex", "sample/reasoning-apart", tokens(1_001, 2_003, 7, 1_501), tier="flex")
case("bounds where reasoning is dearer than output", "sample/reasoning-apart", tokens(9_999, 7_777), bounds=True)
case("the same, flex", "sample/reasoning-apart", tokens(9_999, 7_777), bounds=True, tier="flex")
case("a whole context", SOL, tokens(1_050_000, 128_000))
case("a whole context, flex", SOL, tokens(1_050_000, 128_000), tier="flex")
case("beyond what a float counts exactly", SOL, tokens(900_000_000_007, 900_000_000_011, 13))
case("rates of a few micros per million", "sample/odd-rates", tokens(333_333, 99_999, 111_111))
case("flex of rates of a few micros", "sample/odd-rates", tokens(333_333, 99_999, 111_111), tier="flex")
case("flex of an odd micro: half a micro up", LUNA, tokens(1, 0), tier="flex")
case("flex of three: one and a half up", LUNA, tokens(3, 0), tier="flex")
case("flex of four: two exactly", LUNA, tokens(4, 0), tier="flex")
case("flex bounds", TERRA, tokens(20_016, 2_048), bounds=True, tier="flex")
case("flex where there is no such tier is unknown", MINI, tokens(1_000, 500), tier="flex")
case("output not reported is unknown", SOL, {"inputTokens": 5})
OPUS, HAIKU = (f"anthropic/{model}/text" for model in ("claude-opus-5-5", "claude-haiku-5-5"))
for model in [OPUS, HAIKU]:
    written = {**tokens(1_117, 5, 333), "cacheWriteTokens": 501}
    case("tokens written to a cache", model, written)
    case("some of them for an hour", model, {**written, "cacheWriteHourTokens": 77})
    case("more written than there was input", model, {**written, "cacheWriteTokens": 9_999, "cacheWriteHourTokens": 9_998})
    case("bounds of what may be written", model, {**tokens(4_821, 819), "cacheWriteTokens": 4_821}, bounds=True)
case("writes where they have no price", SOL, {**tokens(1_117, 5, 333), "cacheWriteTokens": 501})
case("input not reported is unknown", SOL, {"outputTokens": 5})

# The fee: 6 % of the total, half up. 8 micros make 0.48, 9 make 0.54, 25 make 1.5.
for micros in (8, 9, 24, 25, 41, 42, 1_000_000):
    case(f"the fee on {micros} micros", LUNA, tokens(micros, 0))

for model in ("openai/gpt-image-1/image", "openai/gpt-image-2/image", "sandbox/sandbox-1/image"):
    for width, height in ((1024, 1024), (1024, 1536), (1536, 1024)):
        for quality in ("low", "medium", "high"):
            case("one image", model, {"images": 1}, quality=quality, width=width, height=height)
    case("four images", model, {"images": 4}, quality="medium", width=1024, height=1024)
    case("standard", model, {"images": 1}, quality="standard", width=1536, height=1024)
    case("auto is the dearest", model, {"images": 3}, quality="auto", width=1024, height=1024)

IMAGE = "openai/gpt-image-2/image"
case("no images", IMAGE, {"images": 0}, quality="high", width=1024, height=1024)
case("images not reported are unknown", IMAGE, {"inputTokens": 1}, quality="high", width=1024, height=1024)
for width, height in ((2048, 2048), (816, 816), (1200, 640), (3840, 2160), (1040, 1024), (2000, 1504)):
    case("a size that is not listed", IMAGE, {"images": 1}, quality="medium", width=width, height=height)
case("three of such a size, rounded once", IMAGE, {"images": 3}, quality="low", width=1040, height=1040)
case("of such a size, auto", IMAGE, {"images": 1}, quality="auto", width=2048, height=1152)
case("bounds of images", IMAGE, {"images": 4}, bounds=True, quality="high", width=1024, height=1536)
case("images have no flex tier", IMAGE, {"images": 1}, tier="flex", quality="low", width=1024, height=1024)

for duration in (0, 1, 999, 1_000, 7_500, 8_000):
    case(f"video of {duration} ms", "sample/video", {"durationMs": duration})
for duration in (1, 3_000, 61_237, 300_000):
    case(f"music of {duration} ms", "sample/music", {"durationMs": duration})
case("bounds of video", "sample/video", {"durationMs": 8_000}, bounds=True)
case("video of a length not reported is unknown", "sample/video", {"images": 1})
for characters in (0, 1, 41, 10_000, 40_000):
    case(f"speech of {characters} characters", "sample/voice", {"characters": characters})
    case(f"speech of {characters} characters, dearer", "sample/voice-odd", {"characters": characters})
case("speech of a length not reported is unknown", "sample/voice", {"durationMs": 1_000})
for meshes in (0, 1, 3):
    case(f"{meshes} meshes", "sample/mesh", {"meshes": meshes})
for meshes in (0, 1, 3):
    case(f"{meshes} textured meshes", "sample/mesh-textured", {"meshes": meshes}, textured=True)
    case(f"{meshes} of the same, bare", "sample/mesh-textured", {"meshes": meshes}, textured=False)
case("a texture that costs nothing more", "sample/mesh", {"meshes": 1}, textured=True)
case("bounds of a textured mesh", "sample/mesh-textured", {"meshes": 1}, bounds=True, textured=True)
for model in ("meshy/meshy-6/mesh", "meshy/meshy-5/mesh", "sandbox/sandbox-1/mesh", "sandbox/sandbox-2/mesh"):
    case("a bare mesh", model, {"meshes": 1}, textured=False)
    case("a textured mesh", model, {"meshes": 1}, textured=True)
case("meshes not reported are unknown", "sample/mesh", {})
case("meshes have no flex tier", "sample/mesh", {"meshes": 1}, tier="flex")
for requests in (0, 1, 7):
    case(f"{requests} requests", "sample/request", {"requests": requests})
case("requests not reported are unknown", "sample/request", {})

lines = ",\n".join(f"  {json.dumps(each)}" for each in CASES)
(HERE / "cases.json").write_text(f"[\n{lines}\n]\n")
print(f"Wrote {len(CASES)} cases")
