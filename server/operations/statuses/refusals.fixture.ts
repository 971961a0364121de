import { describe, expect, test } from "vitest";
import { newId } from "@/server/platform/ids";
import { providers as PROVIDERS } from "@/server/providers/registry.gen";
import { makeTenant } from "@/testing/api";
import { ask } from "./ask.fixture";
import { at, input, post, settings, TEXT, tenant } from "./tenant.fixture";

/** Tests of the errors that planning a run causes, for endpoints that run it or only price it. */
export function refusesWhatCannotBePlanned(what: "quote" | "estimate" | "invoke" | "jobs"): void {
  describe(`planning errors of POST /v1/capabilities/{capability_key}/${what}`, () => {
    const target = at(TEXT, what);

    test("fields of the input that are missing, wrong or unknown are 422, each at its path", async () => {
      const wrong = await post([422, "list"], target, {
        input: { messages: [{ role: "boss" }, { role: "user", content: 1 }], maxOutputTokens: 0 },
      });
      const issues = Object.fromEntries(
        wrong.json.detail.map((issue: { loc: string[]; type: string }) => [issue.loc.join("."), issue.type]),
      );
      expect(issues).toEqual({
        "body.input.messages.0.role": "enum",
        "body.input.messages.0.content": "missing",
        "body.input.messages.1.content": "string_type",
        "body.input.maxOutputTokens": "greater_than_equal",
      });
      const unknown = await post([422, "UNKNOWN_INPUT_FIELD"], target, {
        input: { ...input, temprature: 1 },
      });
      expect(unknown.json.detail.details).toEqual({
        fields: ["input.temprature"],
        allowed: ["messages", "maxOutputTokens", "responseFormat", "responseSchema"],
      });
    });

    test("an unknown envelope field is 422, with its path, a suggestion and the supported fields", async () => {
      const refused = await post([422, "UNKNOWN_EXECUTION_FIELD"], target, { input, preferedModel: "x" });
      expect(refused.json.detail).toEqual({
        code: "UNKNOWN_EXECUTION_FIELD",
        message: expect.any(String),
        path: "preferedModel",
        didYouMean: "preferredModel",
        didYouMeanPath: "execution.executionConstraints.preferredModel",
        supported: expect.arrayContaining([
          "preferredModel",
          "providerPin",
          "autoSelect",
          "maxCostUsd",
          "budgetEnforcement",
        ]),
        retryable: false,
      });
    });

    test("one constraint with two values at two places is 422", async () => {
      const refused = await post([422, "CONFLICTING_EXECUTION_CONSTRAINT"], target, {
        input,
        preferredModel: "sandbox-1",
        execution: { executionConstraints: { preferredModel: "sandbox-2" } },
      });
      expect(refused.json.detail.details).toEqual({
        field: "preferredModel",
        values: ["sandbox-1", "sandbox-2"],
      });
    });

    test("a prompt that cannot fit is 422, with its number of tokens and the limit", async () => {
      const refused = await post([422, "PromptTooLong"], target, {
        input: {
          messages: [
            { role: "system", content: "Short." },
            { role: "user", content: "x".repeat(1_000_000) },
          ],
        },
      });
      expect(refused.json.detail).toEqual({
        code: "PromptTooLong",
        message: expect.any(String),
        field: "input.messages[1].content",
        measurement: "tokens",
        overflow: "reject",
        actualTokens: expect.any(Number),
        maxTokens: 128_000,
        capabilityKey: TEXT,
        provider: "sandbox",
        modelId: "sandbox-1",
        retryable: false,
      });
      expect(refused.json.detail.actualTokens).toBeGreaterThan(128_000);
    });

    test("an unbound key that names no project is 422", async () => {
      await ask([422, "PROJECT_REQUIRED"], "POST", target, { key: tenant.unboundKey, body: { input } });
    });

    test("a project or environment that is not allowed is 403, the same for another tenant's and an unknown one", async () => {
      const stranger = await makeTenant();
      const answers = [];
      for (const projectId of [stranger.projectId, newId("project"), "nonsense", tenant.otherProjectId]) {
        const { json } = await post([403, "AuthorizationFailed"], target, { input, context: { projectId } });
        answers.push(JSON.stringify({ ...json, requestId: null }));
      }
      expect(new Set(answers).size).toBe(1);
      await post([403, "AuthorizationFailed"], target, { input, context: { environment: "production" } });
    });

    // A quote or an estimate needs no funds.
    if (!/quote$|estimate$/.test(target))
      test("an organization without funds is 402, with the ways to pay", async () => {
        const poor = await makeTenant({ walletMicros: 0 });
        const { json } = await ask([402, "funding_required"], "POST", target, {
          key: poor.key,
          body: { input },
        });
        expect(json.detail.details).toMatchObject({
          fundingOptions: ["managed", "byok"],
          legacyCode: "billing_managed_usage_exhausted",
          upgradeUrl: expect.stringMatching(/billing$/),
        });
      });

    test("a ceiling of the call below its estimate is 402, with its figures and the field", async () => {
      const refused = await post([402, "BudgetExceeded"], target, { input, maxCostUsd: 0.000001 });
      expect(refused.json.detail.details).toEqual({
        scope: "call",
        enforcement: "prevent",
        estimatedCost: expect.any(Number),
        available: 0.000001,
        ceiling: 0.000001,
        field: "execution.executionConstraints.maxCostUsd",
        cheapestRoute: expect.objectContaining({ fits: false }),
      });
      expect(refused.json.detail.details.estimatedCost).toBeGreaterThan(0.000001);
    });

    test("content of a maturity that no provider here allows is 400", async () => {
      const sandbox = PROVIDERS.find(({ name }) => name === "sandbox")!;
      const body = { input, maturityRating: "NC17" };
      const maturity = sandbox.maturity;
      sandbox.maturity = "PG";
      try {
        const isQuote = what === "quote" || what === "estimate";
        if (isQuote) await settings(tenant.projectId, { maturityRating: "R" });
        const { json } = await post([400, "PolicyRejected"], target, isQuote ? { input } : body);
        expect(json.detail.details).toMatchObject({ field: "maturityRating", highest: "PG" });
      } finally {
        sandbox.maturity = maturity;
        await settings(tenant.projectId, {});
      }
    });

    test("an unknown model is 409 with the available ones, and an account that is not connected with where to connect it", async () => {
      const gone = await post([409, "ROUTE_UNAVAILABLE"], target, { input, preferredModel: "gone-1" });
      expect(gone.json.detail.details.alternates).toContain("sandbox/sandbox-1");
      const body = { input, preferredModel: "gpt-4.1-mini" };
      const unconnected = await post([409, "CONNECTION_REQUIRED"], target, body);
      expect(unconnected.json.detail.details).toEqual({
        connectUrl: expect.stringMatching(new RegExp(`^http.*/projects/${tenant.projectId}/connections`)),
        provider: "openai",
      });
    });
  });
}
