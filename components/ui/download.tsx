"use client";
import { Download } from "lucide-react";
import { useMutation } from "@/components/use-mutation";
import { Button, type ButtonProps } from "./button";

/** Hands a text over as a file, without asking the server for one. */
function saveFile(name: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Saves a document as JSON; it is read at the click, so that it is whole and new. */
export function DownloadJson({
  name,
  read,
  size,
  children,
}: {
  /** Of the file. */
  name: string;
  read(): Promise<unknown>;
  size?: ButtonProps["size"];
  children: string;
}) {
  const saving = useMutation({
    mutationFn: async () => saveFile(name, `${JSON.stringify(await read(), null, 2)}\n`, "application/json"),
  });
  return (
    <Button size={size} pending={saving.isPending} onClick={() => saving.mutate()}>
      {!saving.isPending && <Download aria-hidden />}
      {children}
    </Button>
  );
}

/** Saves a text that is on the page. */
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
