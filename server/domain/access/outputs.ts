import type { Ctx } from "@/server/domain/ctx";

/**
 * The environment whose outputs a request may start from; null for all environments, as a person sees them.
 * An embed session may start from what its creator could give it.
 */
export function outputsOf({ principal }: Ctx): string | null {
  switch (principal.kind) {
    case "service_principal":
      return principal.environment;
    case "panel_session":
      return principal.givenBy === "human_session" ? null : principal.environment;
    case "anonymous":
    case "human_session":
    case "system":
      return null;
  }
}
