import { beforeAll, describe, expect, test } from "vitest";
import { CapabilityRequestBody, RequestStatus } from "@/server/contract/requests";
import type { Ctx } from "@/server/domain/ctx";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { forceMove, NEED, needIn, operatorAt, priceOf, SHIPPED } from "@/testing/needs";
import { makeProject, type TestProject } from "@/testing/world";
import * as requests from ".";

/* Tests every act on a request in every status. */

let project: TestProject;
let operator: Ctx;
beforeAll(async () => {
  project = await makeProject();
  operator = operatorAt(project.ctx);
  await pool.query(
    `INSERT INTO delivery_endpoint (id, organization_id, url, secret, event_types, enabled, created_at, updated_at)
     VALUES ($1, $2, 'https://hooks.example/in', 'x', '{}', true, now(), now())`,
    [newId("endpoint"), project.organizationId],
  );
});

type Filed = Awaited<ReturnType<typeof needIn>>;
const question = ({ id }: Filed) => ({ requestId: id, message: "In which light?" });
const again = CapabilityRequestBody.parse({ ...NEED, need: "The year, too." });

/**
 * Resulting status of each act, and the statuses that allow it. In all other statuses the request stays
 * unchanged.
 */
const ACTS: Record<
  string,
  {
    act: (request: Filed) => Promise<unknown>;
    to: RequestStatus;
    from: RequestStatus[];
    same?: RequestStatus;
  }
> = {
  revise: {
    act: ({ id }) => requests.revise(project.ctx, id, again),
    from: ["draft", "submitted", "in_review", "needs_information", "quoted"],
    to: "draft",
  },
  submit: {
    act: ({ id }) => requests.submit(project.ctx, id),
    from: ["draft"],
    to: "submitted",
    same: "submitted",
  },
  openForReview: {
    act: ({ id }) => requests.openForReview(operator, id),
    from: ["submitted"],
    to: "in_review",
    same: "in_review",
  },
  askForInformation: {
    act: (request) => requests.askForInformation(operator, question(request)),
    from: ["in_review"],
    to: "needs_information",
  },
  decline: {
    act: (request) => requests.decline(operator, question(request)),
    from: ["in_review"],
    to: "declined",
  },
  // A quoted request can be quoted again only after its quote has expired; other tests cover that.
  issueQuote: {
    act: (request) => requests.issueQuote(operator, priceOf(request)),
    from: ["in_review"],
    to: "quoted",
  },
  paid: { act: ({ id }) => forceMove(operator, id, "paid"), from: ["quoted"], to: "paid" },
  fulfil: {
    act: ({ id }) => requests.fulfil(operator, { requestId: id, capabilityKey: SHIPPED }),
    from: ["paid"],
    to: "fulfilled",
  },
  refunded: {
    act: ({ id }) => forceMove(operator, id, "refunded"),
    from: ["paid", "fulfilled"],
    to: "refunded",
  },
  refundFailed: {
    act: ({ id }) => forceMove(operator, id, "refund_failed"),
    from: ["refunded"],
    to: "paid",
  },
};

const TABLES: Record<string, string> = {
  capability_request: "id = $1",
  capability_request_revision: "request_id = $1",
  capability_request_event: "request_id = $1",
  commission_quote: "request_id = $1",
  audit_entry: "subject = $1",
  delivery: "body LIKE '%' || $1 || '%'",
};

/** All rows about a request. */
async function everything(id: string): Promise<Record<string, unknown[]>> {
  const found = Object.entries(TABLES).map(async ([table, condition]) => {
    const { rows } = await pool.query(`SELECT * FROM ${table} WHERE ${condition} ORDER BY id`, [id]);
    return [table, rows] as const;
  });
  return Object.fromEntries(await Promise.all(found));
}

for (const [name, { act, from, to, same }] of Object.entries(ACTS)) {
  describe(name, () => {
    test.each(RequestStatus.options)(
      "the act changes a request that is %s only if that status allows it",
      async (status) => {
        const request = await needIn(project.ctx, status);
        const before = await everything(request.id);
        if (from.includes(status)) {
          await act(request);
          const after = await everything(request.id);
          expect((await requests.get(project.ctx, request.id)).status).toBe(to);
          // Each move adds one event, one audit entry and one delivery.
          for (const table of ["capability_request_event", "audit_entry", "delivery"])
            expect(after[table]?.length).toBe((before[table]?.length ?? 0) + 1);
          return;
        }
        if (status === same) await act(request);
        else
          await expect(act(request)).rejects.toMatchObject({
            code: "RequestStateConflict",
            details: { requestId: request.id, status },
          });
        expect(await everything(request.id)).toEqual(before);
      },
    );
  });
}

test("a request names its next action: submit, wait, revise, show the price to a person, run, or stop", async () => {
  const next = RequestStatus.options.map(async (status) => {
    const { id } = await needIn(project.ctx, status);
    return [status, (await requests.get(project.ctx, id)).nextAction];
  });
  expect(Object.fromEntries(await Promise.all(next))).toEqual({
    draft: "submit",
    submitted: "poll",
    in_review: "poll",
    needs_information: "revise",
    quoted: "present_quote",
    paid: "poll",
    fulfilled: "run",
    declined: "stop",
    refunded: "stop",
  });
  const draft = await needIn(project.ctx, "draft");
  expect((await requests.submit(project.ctx, draft.id)).nextAction).toBe("poll");
});
