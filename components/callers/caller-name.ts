import { shortId } from "@/components/ui/copyable-id";

/** Who asked for something: a person, an API key, an embedded panel, or the system itself. */
export type NamedCaller = {
  id: string;
  /** Where it is not told, the id says it. */
  kind?: string | null | undefined;
  /** A person's e-mail, a key's name; null: nobody knows, or the reader is not told. */
  name: string | null;
};

/** What a caller is called, wherever a person reads of them. */
export function callerName({ id, kind, name }: NamedCaller): string {
  switch (kind ?? kindOf(id)) {
    case "service_principal":
      return name ? `${name} (API key)` : `API key ${shortId(id)}`;
    case "human_session":
      return name ?? `Person ${shortId(id)}`;
    case "panel_session":
      return `Embedded panel ${shortId(id)}`;
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
