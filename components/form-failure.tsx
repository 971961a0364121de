"use client";
import { useEffect, useRef } from "react";
import { type Failure, toFailure } from "./trpc";
import { Notice } from "./ui/notice";

/** To the first field of a form that is drawn as wrong. */
export function focusWrong(form: HTMLFormElement | null) {
  form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
}

/** What a form was refused with: by field, and the first of them has the focus once it is drawn as wrong. */
export function useFailure(error: unknown) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) focusWrong(form.current);
  }, [error]);
  const failure = error ? toFailure(error) : null;
  const problemOf = (field: string) => failure?.issues.find(({ loc }) => loc.includes(field))?.msg;
  return { form, failure, problemOf };
}

/** What is wrong with a form as a whole. */
export function FormFailure({ failure }: { failure: Failure | null }) {
  if (!failure || failure.issues.length > 0) return null;
  return (
    <Notice tone="bad" role="alert">
      {failure.message}
    </Notice>
  );
}
