export type Mode = "live" | "test";

/** The cookie that remembers whether a project is shown with live or with test money. Holds no right. */
export const modeCookie = (projectId: string): string => `capstan.mode.${projectId}`;

/** Reads the cookie's value; anything unknown counts as no choice. */
export const readMode = (value: string | undefined): Mode | null =>
  value === "live" || value === "test" ? value : null;
