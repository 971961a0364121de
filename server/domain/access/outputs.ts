import type { Ctx } from "@/server/domain/ctx";

/**
 * Of which environment's outputs a request may start; null: of all, as a person sees them. A panel session starts from what
 * its maker could give it.
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
