import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { finish, makeTenant, type Tenant } from "@/testing/api";
import { tapSandbox } from "@/testing/vendor-tap";

/* Pictures in and one JSON object out, over the API. */

const at = (what: string) => `/v1/capabilities/text.vision.structured.v1/${what}`;
let tenant: Tenant;
let tap: Awaited<ReturnType<typeof tapSandbox>>;
let png: string;
beforeAll(async () => {
  tenant = await makeTenant();
  tap = await tapSandbox();
  const blank = { width: 8, height: 8, channels: 3 as const, background: "#336699" };
  png = (await sharp({ create: blank }).png().toBuffer()).toString("base64");
});
afterAll(() => tap.stop());

const asking = (data: string, mediaType = "image/png", role = "user") => ({
  messages: [
    {
      role,
      content: [
        { type: "text", text: "What colour is this?" },
        { type: "image", mediaType, data },
      ],
    },
  ],
});

test("a picture is sent unchanged and described by its bytes, by invoke and as a job", async () => {
  const { status, json } = await tenant.post(at("invoke"), { input: asking(png) });
  expect(status, JSON.stringify(json)).toBe(200);
  const [picture] = json.typedOutput.pictures;
  expect(picture).toMatchObject({
    mediaType: "image/png",
    byteLength: Buffer.from(png, "base64").byteLength,
  });
  const submitted = await tenant.post(at("jobs"), { input: asking(png) });
  const job = await finish(submitted.json.jobId);
  expect(job.typedOutput).toEqual(json.typedOutput);
  const { json: receipt } = await tenant.get(`/v1/jobs/${job.jobId}/receipt`);
  const [sent] = tap.of(receipt.attempts[0].attemptId).map(({ body }) => JSON.parse(body));
  expect(sent.messages[0].content[1]).toEqual({ type: "image", mediaType: "image/png", base64: png });
  expect(receipt.usage.inputTokens).toBeGreaterThan(256);
});

test("a schema beside the input shapes the answer", async () => {
  const responseSchema = { type: "object", properties: { hex: { type: "string" } }, required: ["hex"] };
  const { json } = await tenant.post(at("invoke"), { input: asking(png), responseSchema });
  expect(json.typedOutput).toEqual({ hex: expect.any(String) });
});

test.each([
  [{ type: "image", data: "AAAA" }, "mediaType"],
  [{ text: "x" }, "type"],
])("a part that lacks a field is refused at that field: %j", async (part, field) => {
  const messages = [{ role: "user", content: [part] }];
  const { status, json } = await tenant.post(at("invoke"), { input: { messages } });
  expect(status).toBe(422);
  const loc = ["body", "input", "messages", 0, "content", 0, field];
  expect(json.detail).toEqual([{ loc, msg: "Field required", type: "missing" }]);
});

test.each<[string, () => object, (string | number)[], RegExp]>([
  ["what is not base64", () => asking("not base64!"), [0, "content", 1, "data"], /not valid base64/],
  ["another kind of file", () => asking(png, "image/jpeg"), [0, "content", 1, "data"], /image\/png, not/],
  ["no picture at all", () => asking("AAAA"), [0, "content", 1, "data"], /not a valid image/],
  ["a picture cut short", () => asking(png.slice(0, 12)), [0, "content", 1, "data"], /cannot be read/],
  [
    "a picture of the assistant",
    () => asking(png, "image/png", "assistant"),
    [0, "content", 1],
    /user messages/,
  ],
])("%s is refused at its position in the message", async (_case, input, field, message) => {
  const { status, json } = await tenant.post(at("jobs"), { input: input() });
  expect(status).toBe(422);
  expect(json.detail[0].loc).toEqual(["body", "input", "messages", ...field]);
  expect(json.detail[0].msg).toMatch(message);
});
