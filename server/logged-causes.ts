/**
 * Which causes of a failure were logged since it last worked, so that retries and other callers add no line. Causes are words
 * of ours: few, and without anything a stranger wrote.
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
    /** It works: forgets its causes. Were there any? */
    clear: (subject: string): boolean => logged.delete(subject),
  };
}
