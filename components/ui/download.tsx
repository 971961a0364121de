"use client";
import { Download } from "lucide-react";
import { useAction } from "@/components/blocks/data/use-action";
import { Button, type ButtonProps } from "./button";

/** Downloads a text as a file, without a request to the server. */
function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Downloads a document as JSON. It is read on click, so that it is complete and current. */
export function DownloadJson({
  name,
  read,
  size,
  children,
}: {
  /** The file's name. */
  name: string;
  read(): Promise<unknown>;
  size?: ButtonProps["size"];
  children: string;
}) {
  const saving = useAction(
    {
      mutationFn: async () =>
        saveFile(name, `${JSON.stringify(await read(), null, 2)}\n`, "application/json"),
    },
    {},
  );
  return (
    <Button size={size} pending={saving.isPending} onClick={() => saving.mutate()}>
      {!saving.isPending && <Download aria-hidden />}
      {children}
    </Button>
  );
}

/** Downloads a text that is on the page. */
export function DownloadText({ name, text, what }: { name: string; text: string; what: string }) {
  return (
    <Button
      variant="ghost"
      size="sm"
      aria-label={`Download ${what}`}
      onClick={() => saveFile(name, `${text}\n`, "text/plain")}
    >
      <Download aria-hidden />
      Download
    </Button>
  );
}
