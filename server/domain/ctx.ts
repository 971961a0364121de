import type { z } from "zod";
import type { EmbedTerms } from "@/server/contract/embeds";
import { RUN_SCOPES } from "@/server/contract/enums";
import type { ManagementGrant } from "@/server/contract/management-keys";
import { type Role as RoleName, Scope as ScopeName } from "@/server/contract/organizations";
import { newId } from "@/server/platform/ids";
import { type Log, log } from "@/server/platform/log/log";

export const SCOPES = ScopeName.options;
export type Scope = z.output<typeof ScopeName>;
/** The scopes of a key that is created without naming any. */
export const DEFAULT_SCOPES: readonly Scope[] = SCOPES.filter(
  (scope) => scope === "webhooks:write" || RUN_SCOPES.some((each) => each === scope),
);

export type Role = z.output<typeof RoleName>;

/** Who asks. Decided once, in server/api/auth.ts (HTTP) or server/trpc/init.ts (panel). */
export type Principal =
  | { kind: "anonymous"; id: "anonymous"; address: string }
  | {
      kind: "service_principal";
      /** The key's id. */
      id: string;
      organizationId: string;
      /** Null: the key is not bound to a project. */
      projectId: string | null;
      environment: string;
      scopes: ReadonlySet<Scope>;
      /** The person who created the key. */
      userId: string | null;
      /** Only of a management key: what its owner allowed it to hand out. */
      management?: ManagementGrant;
      /** The management key that created this key. */
      madeByKey?: string;
    }
  | {
      kind: "human_session";
      /** The user's id. */
      id: string;
      email: string;
      memberships: ReadonlyMap<string, Role>;
      isOperator: boolean;
      /** The session they come by; a person the system acts for has none. */
      sessionId?: string;
      /** Organizations they belong to without any right, and why. */
      closedOrganizations?: ReadonlyMap<string, ClosedBecause>;
    }
  | {
      kind: "panel_session";
      /** The session's id. */
      id: string;
      organizationId: string;
      projectId: string;
      environment: string;
      /** What made it, and gave it its files. */
      givenBy: "human_session" | "service_principal";
      /** The person who made it, or who made the key that did. */
      userId: string | null;
      /** Of the pages that may use it. */
      origins: readonly string[];
      terms: EmbedTerms;
    }
  | { kind: "system"; id: string };

/** The organization asks for a second factor the person does not have, or no one can read what it asks for. */
export type ClosedBecause = "second_factor" | "damaged";

export type PrincipalKind = Principal["kind"];

/** A request of a key without an idempotency key: by what its repeat is known. */
export type Unkeyed = {
  path: string;
  /** SHA-256 of the body as it came. */
  bodyHash: string;
  /** How often its client says it has sent it before. */
  retries: number;
  /** Its answer is the end of the execution it begins, and not only that it has begun. */
  awaitsEnd: boolean;
  /** Set with the execution it waits for: notes that it is answered without its end. */
  answeredEarly?(): Promise<void>;
};

/** What every verb receives first. */
export type Ctx = {
  principal: Principal;
  requestId: string;
  now(): Date;
  log: Log;
  /** Where the request came from, as far as our proxies are trusted; what no one asked for by name has none. */
  address?: string;
  /** Aborted when the caller went away; made when it is first asked for. */
  signal?(): AbortSignal;
  /** Who asks, looked at again, for answers that last: null when the credential no longer holds. */
  whoNow?(): Promise<Principal | null>;
  unkeyed?: Unkeyed | undefined;
  /** Set by admission: an earlier request began the execution that this answer is of. */
  isReplay?: boolean;
};

/** The clock of the process; tests hand in their own. */
export const systemClock = () => new Date();

/** A context for work no one asks for by name: the engine, the sweeper, the admin command. */
export function systemCtx(name: string, now: () => Date = systemClock): Ctx {
  return {
    principal: { kind: "system", id: name },
    requestId: newId("request"),
    now,
    log: log.child({ system: name }),
  };
}
