/** The cookie that remembers which project to open first. Holds an id only; rights are checked on every read. */
export const LAST_PROJECT_COOKIE = "capstan.project";
