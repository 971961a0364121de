export function setUp(
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  ask: (method: string, path: string, body?: unknown) => Promise<any>,
  projectId: string,
  setup: object,
): Promise<{ changed: string[]; differs: string[]; apiKey: string | null }>;
