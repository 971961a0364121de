"use client";
import { createContext, useCallback, useState } from "react";

type Mark = (editor: string, isUnread: boolean) => void;

/** The function to which each JSON editor reports whether its text is invalid. */
export const UnreadTexts = createContext<Mark>(() => undefined);

/** The value of `UnreadTexts`, and whether a form has invalid text; such a form would not send what was typed. */
export function useUnreadTexts() {
  const [editors, setEditors] = useState<ReadonlySet<string>>(new Set());
  const mark = useCallback<Mark>((editor, isUnread) => {
    setEditors((before) => {
      if (before.has(editor) === isUnread) return before;
      const after = new Set(before);
      if (isUnread) after.add(editor);
      else after.delete(editor);
      return after;
    });
  }, []);
  return { hasUnread: editors.size > 0, mark };
}
