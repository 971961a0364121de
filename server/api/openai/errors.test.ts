import { expect, test } from "vitest";
import { ValidationFault } from "@/server/errors";
import { toOpenAIWire } from "./errors";

const told = (loc: (string | number)[]) =>
  (
    toOpenAIWire(new ValidationFault([{ loc, msg: "Too long.", type: "value_error" }]), "req_1").body as {
      error: object;
    }
  ).error;

test("what is wrong at a place names it as OpenAI does; what is wrong with the whole body names no parameter", () => {
  expect(told(["body", "messages", 0, "content"])).toMatchObject({
    message: "messages[0].content: Too long.",
    param: "messages[0].content",
  });
  expect(told(["body"])).toMatchObject({ message: "Too long.", param: null });
});
