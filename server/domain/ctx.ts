import type { EmbedTerms } from "@/server/contract/embeds";
import { RUN_SCOPES, SCOPES } from "@/server/contract/enums";
import type { ManagementGrant } from "@/server/contract/management-keys";
import type { Role, Scope } from "@/server/contract/organizations";
import { newId } from "@/server/platform/ids";
import { type Log, log } from "@/server/platform/log/log";

export type { Role, Scope };
/** Scopes of a key that is created without a list of scopes. */
export const DEFAULT_SCOPES: readonly Scope[] = SCOPES.filter(
  (scope) => scope === "webhooks:write" || RUN_SCOPES.some((each) => each === scope),
);

/** The caller. Resolved once, in server/api/auth.ts (HTTP) or server/trpc/init.ts (panel). */
export type Principal =
  | { kind: "anonymous"; id: "anonymous"; address: string }
  | {
      kind: "service_principal";
      /** Id of the key. */
      id: string;
      organizationId: string;
      /** Null if the key is not bound to a project. */
      projectId: string | null;
      environment: string;
      scopes: ReadonlySet<Scope>;
      /** The person who created the key, or who created the management key that did. Null if the system did. */
      userId: string | null;
      /** Set for management keys only: the rights that the key may grant to others. */
      management?: ManagementGrant;
      /** The management key that created this key. */
      madeByKey?: string;
    }
  | {
      kind: "human_session";
      /** Id of the user. */
      id: string;
      email: string;
      memberships: ReadonlyMap<string, Role>;
      isOperator: boolean;
      /** Id of the signed-in session. Absent if the system acts for the person. */
      sessionId?: string;
      /** Organizations in which the person currently has no rights, with the reason. */
      closedOrganizations?: ReadonlyMap<string, ClosedBecause>;
    }
  | {
      kind: "panel_session";
      /** Id of the embed session. */
      id: string;
      organizationId: string;
      projectId: string;
      environment: string;
      /** Kind of principal that created the session and provided its files. */
      givenBy: "human_session" | "service_principal";
      /**
       * The person who created the session, or who created the key that did. Null if the system created that
       * key.
       */
      userId: string | null;
      /** Origins of the pages that may use the session. */
      origins: readonly string[];
      terms: EmbedTerms;
    }
  | { kind: "system"; id: string };

/** The organization requires a second factor that the person lacks, or its setting cannot be parsed. */
export type ClosedBecause = "second_factor" | "damaged";

export type PrincipalKind = Principal["kind"];

/** A request of a key without an idempotency key: the facts that identify its repeat. */
type Unkeyed = {
  path: string;
  /** SHA-256 of the body as received. */
  bodyHash: string;
  /** Number of earlier attempts that the client reports. */
  retries: number;
  /**
   * True if the response waits for the end of the execution, instead of only confirming that it started.
   */
  awaitsEnd: boolean;
  /** Set once the request waits for an execution: records that the response was sent before the end. */
  answeredEarly?(): Promise<void>;
};

/** First argument of every verb. */
export type Ctx = {
  principal: Principal;
  requestId: string;
  now(): Date;
  log: Log;
  /** Client address, as far as our proxies are trusted. Absent for work of the system. */
  address?: string;
  /** Aborts when the caller disconnects. The signal is created on the first call. */
  signal?(): AbortSignal;
  /** Checks the caller again, for long responses. Returns null when the credential is no longer valid. */
  whoNow?(): Promise<Principal | null>;
  unkeyed?: Unkeyed | undefined;
  /** Set by admission if an earlier request started the execution that this response describes. */
  isReplay?: boolean;
};

/** Clock of the process; tests pass their own. */
export const systemClock = () => new Date();

/** Context for work without a caller: the engine, the sweeper, the admin command. */
export function systemCtx(name: string, now: () => Date = systemClock): Ctx {
  return {
    principal: { kind: "system", id: name },
    requestId: newId("request"),
    now,
    log: log.child({ system: name }),
  };
}
