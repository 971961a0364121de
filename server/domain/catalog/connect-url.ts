import { publicUrl } from "@/server/platform/settings/env";

/** Returns the URL of the page that connects an account to a project, or of a provider's form on that page. */
export function connectUrlOf(project: { id: string; environment: string }, provider?: string): string {
  const query = new URLSearchParams({ environment: project.environment, ...(provider ? { provider } : {}) });
  return `${publicUrl}/projects/${project.id}/connections?${query}`;
}
