"use client";
import { createContext, useCallback, useState } from "react";

type Mark = (editor: string, isUnread: boolean) => void;

/** Told by every editor of JSON whether its text cannot be read just now. */
export const UnreadTexts = createContext<Mark>(() => undefined);

/** For `UnreadTexts`: whether a form has such a text, in which case what it would send is not what is written in it. */
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
