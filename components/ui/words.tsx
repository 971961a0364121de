import { CopyButton } from "./copy-button";

/** Text of a person or a model, unchanged: line breaks kept, nothing interpreted. */
export function Words({ text, what }: { text: string; what: string }) {
  return (
    <div className="relative min-w-0 pr-9">
      <p
        dir="auto"
        className="max-h-112 overflow-y-auto text-base whitespace-pre-wrap [overflow-wrap:anywhere]"
      >
        {text}
      </p>
      <CopyButton text={text} what={what} className="absolute -top-0.5 right-0" />
    </div>
  );
}
