import { publicUrl } from "@/server/platform/settings/env";

/** The page on which a person connects an account for a project; with a provider, that provider's form. */
export function connectUrlOf(project: { id: string; environment: string }, provider?: string): string {
  const query = new URLSearchParams({ environment: project.environment, ...(provider ? { provider } : {}) });
  return `${publicUrl}/projects/${project.id}/connections?${query}`;
}
