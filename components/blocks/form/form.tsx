"use client";
import {
  type ComponentProps,
  createContext,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useRef,
  useState,
} from "react";
import { toFailure } from "@/components/data/trpc";
import { Notice } from "@/components/ui/notice";
import { type FormValues, readForm } from "./form-values";

/** The part of an action that its form shows. */
export type FormAction = { isPending: boolean; error: unknown };

type Known = { problemOf(name: string): string | undefined; fields: Set<string> };
const Problems = createContext<Known | null>(null);

/** The error of a field of this form: the browser's, or else the server's. `name` is the field's name in the contract. */
export function useProblem(name: string): string | undefined {
  const known = useContext(Problems);
  useEffect(() => {
    known?.fields.add(name);
  }, [known, name]);
  return known?.problemOf(name);
}

/** The browser's reason why a field is invalid, in our words and not those of the browser's bubble. */
function whyInvalid(field: TextField): string {
  const { validity } = field;
  if (validity.customError) return field.validationMessage;
  if (validity.valueMissing) return "Fill in this field.";
  if (field.title) return `${field.title}.`;
  if (field.type === "email") return "Enter an email address, such as name@example.com.";
  if (field.type === "url") return "Enter a full URL, such as https://example.com.";
  if (field.type === "number") return "Enter a whole number in the range given.";
  return validity.tooShort
    ? `Enter at least ${field.minLength} characters.`
    : "This value is not accepted here.";
}

type TextField = HTMLInputElement | HTMLTextAreaElement;
const isField = (element: EventTarget): element is TextField =>
  element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;

/** The errors that the browser finds in the form's fields, by name. */
const refusedBy = (form: HTMLFormElement): Record<string, string> =>
  Object.fromEntries(
    [...form.elements]
      .filter(isField)
      .flatMap((field) => (field.checkValidity() ? [] : [[field.name, whyInvalid(field)]])),
  );

const SHOWN_ELSEWHERE: FormAction = { isPending: false, error: null };

/** Moves the focus to the first invalid field of a form. */
export const focusWrong = (form: HTMLFormElement | null) =>
  form?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();

/** A form. An error is shown at its fields, else above them, and the first invalid field gets the focus. */
export function Form({
  action = SHOWN_ELSEWHERE,
  send,
  children,
  ref,
  noValidate,
  onInput,
  ...rest
}: {
  /** Absent if the form is never refused, or shows errors itself. */
  action?: FormAction;
  /** Called on submit; `button` is the id of the button that submitted the form. */
  send(sent: FormValues, button: string | undefined): void;
  children: ReactNode;
  ref?: RefObject<HTMLFormElement | null>;
  /** True if the form validates its fields itself. */
  noValidate?: boolean;
} & Omit<ComponentProps<"form">, "action" | "onSubmit" | "children" | "ref" | "noValidate">) {
  const inner = useRef<HTMLFormElement>(null);
  const form = ref ?? inner;
  const [fields] = useState(() => new Set<string>());
  const [own, setOwn] = useState<Record<string, string>>({});
  const { error } = action;
  useEffect(() => {
    if (error) focusWrong(form.current);
  }, [error, form]);
  const failure = error ? toFailure(error) : null;
  const issues = failure?.issues ?? [];
  const elsewhere = issues.filter(({ loc }) => !loc.some((step) => fields.has(String(step))));
  const unseen = Object.keys(own).some((name) => !fields.has(name)) ? "Fill in every field." : undefined;
  const sentences =
    issues.length > 0
      ? [...new Set(elsewhere.map(({ msg }) => msg))].join(" ")
      : (failure?.message ?? unseen);
  return (
    <form
      ref={form}
      className="space-y-4"
      noValidate
      onInput={(event) => {
        onInput?.(event);
        const field: EventTarget = event.target;
        if (isField(field)) setOwn(({ [field.name]: _, ...others }) => others);
      }}
      onSubmit={(event) => {
        event.preventDefault();
        event.stopPropagation(); // a dialog's form may be inside another form of the page
        const { submitter } = event.nativeEvent as SubmitEvent; // React's type lacks the submitter
        const refused = noValidate ? {} : refusedBy(event.currentTarget);
        setOwn(refused);
        if (Object.keys(refused).length > 0) requestAnimationFrame(() => focusWrong(form.current));
        else if (!action.isPending) send(readForm(event.currentTarget), submitter?.id);
      }}
      {...rest}
    >
      {sentences && (
        <Notice tone="bad" role="alert">
          {sentences}
        </Notice>
      )}
      <Problems
        value={{
          problemOf: (name) => own[name] ?? issues.find(({ loc }) => loc.includes(name))?.msg,
          fields,
        }}
      >
        {children}
      </Problems>
    </form>
  );
}
