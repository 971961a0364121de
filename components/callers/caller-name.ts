import { shortId } from "@/components/ui/copyable-id";

/** The caller of a request: a person, an API key, an embed session, or the system. */
export type NamedCaller = {
  id: string;
  /** Derived from the id when missing. */
  kind?: string | null | undefined;
  /** A person's email or a key's name; null when unknown or hidden from the reader. */
  name: string | null;
};

/** The display name of a caller. */
export function callerName({ id, kind, name }: NamedCaller): string {
  switch (kind ?? kindOf(id)) {
    case "service_principal":
      return name ? `${name} (API key)` : `API key ${shortId(id)}`;
    case "human_session":
      return name ?? `Person ${shortId(id)}`;
    case "panel_session":
      return `Embed session ${shortId(id)}`;
    case "system":
      return `Capstan (${id})`;
    default:
      return name ?? shortId(id);
  }
}

function kindOf(id: string): string | null {
  if (id.startsWith("key_")) return "service_principal";
  if (id.startsWith("usr_")) return "human_session";
  return id.startsWith("pses_") ? "panel_session" : null;
}
