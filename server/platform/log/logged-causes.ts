/**
 * The causes of a failure that were logged since the last success, so that retries and other callers add no lines. Causes
 * come from a small fixed set and contain no text from outside.
 */
export function loggedCauses() {
  const logged = new Map<string, Set<string>>();
  return {
    isNew(subject: string, cause: string): boolean {
      const known = logged.get(subject) ?? new Set();
      if (known.has(cause)) return false;
      logged.set(subject, known.add(cause));
      return true;
    },
    /** Records a success and forgets the causes. Returns whether there were any. */
    clear: (subject: string): boolean => logged.delete(subject),
  };
}
