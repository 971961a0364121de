"use client";
import { useEffect, useRef } from "react";
import { type Failure, toFailure } from "./trpc";
import { Notice } from "./ui/notice";

/** Moves the focus to the first invalid field of a form. */
export function focusWrong(form: HTMLFormElement | null) {
  form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
}

/** A form's refusals by field. The first invalid field gets the focus once it is drawn. */
export function useFailure(error: unknown) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (error) focusWrong(form.current);
  }, [error]);
  const failure = error ? toFailure(error) : null;
  const problemOf = (field: string) => failure?.issues.find(({ loc }) => loc.includes(field))?.msg;
  return { form, failure, problemOf };
}

/** The error of a form as a whole. */
export function FormFailure({ failure }: { failure: Failure | null }) {
  if (!failure || failure.issues.length > 0) return null;
  return (
    <Notice tone="bad" role="alert">
      {failure.message}
    </Notice>
  );
}
