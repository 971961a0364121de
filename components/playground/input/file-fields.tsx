"use client";
import { Upload } from "lucide-react";
import { type ComponentProps, useRef, useState } from "react";
import { formatBytes } from "@/components/artifacts/format-bytes";
import { memberOf, textIn } from "@/components/blocks/data/unknown";
import { useAction } from "@/components/blocks/data/use-action";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/input";

type FieldProps = Pick<ComponentProps<"input">, "id" | "aria-invalid" | "aria-describedby"> & {
  value: string;
  label: string;
  disabled: boolean;
  onChange(value: string): void;
};

async function upload(projectId: string, file: File): Promise<string> {
  const query = new URLSearchParams({ projectId, filename: file.name });
  const answer = await fetch(`/artifacts?${query}`, {
    method: "POST",
    headers: { "content-type": file.type || typeByName(file.name) },
    body: file,
  });
  const body: unknown = await answer.json().catch(() => null);
  const stored = textIn(body, "artifactId");
  if (answer.ok && stored) return stored;
  if (answer.status === 401) throw new Error("Your session has ended. Sign in, then upload the file again.");
  const detail = memberOf(body, "detail");
  const message = Array.isArray(detail) ? textIn(detail[0], "msg") : textIn(detail, "message");
  throw new Error(message ?? "The file could not be uploaded. Try again.");
}

/** The media types of file extensions that browsers do not know. */
function typeByName(name: string): string {
  const ending = name.split(".").at(-1)?.toLowerCase() ?? "";
  const known: Record<string, string> = {
    glb: "model/gltf-binary",
    md: "text/markdown",
    pdf: "application/pdf",
  };
  return known[ending] ?? "application/octet-stream";
}

/** An artifact id: of an existing artifact, or of a file uploaded here. */
export function ArtifactField({
  projectId,
  value,
  label,
  disabled,
  hint = "",
  onChange,
  ...aria
}: FieldProps & {
  projectId: string | null;
  /** The hint while the field is empty. */
  hint?: string;
}) {
  const picker = useRef<HTMLInputElement>(null);
  const [name, setName] = useState<{ artifactId: string; text: string } | null>(null);
  const sending = useAction(
    { mutationFn: (file: File) => upload(projectId ?? "", file) },
    {
      isInPlace: true,
      onDone(artifactId, file) {
        setName({ artifactId, text: `${file.name}, ${formatBytes(file.size)}` });
        onChange(artifactId);
      },
    },
  );
  return (
    <div className="space-y-1.5">
      <div className="flex gap-2">
        <Input
          {...aria}
          value={value}
          disabled={disabled}
          placeholder="art_…"
          spellCheck={false}
          className="min-w-0 flex-1 font-mono text-xs"
          onChange={({ target }) => onChange(target.value)}
        />
        {projectId !== null && (
          <>
            <input
              ref={picker}
              type="file"
              className="sr-only"
              tabIndex={-1}
              aria-label={`File for ${label.toLowerCase()}`}
              disabled={disabled}
              onChange={({ target }) => {
                const [file] = target.files ?? [];
                if (file) sending.mutate(file);
                target.value = ""; // the same file may be chosen again
              }}
            />
            <Button
              className="h-9"
              pending={sending.isPending}
              disabled={disabled}
              onClick={() => picker.current?.click()}
              aria-label={`Upload a file for ${label.toLowerCase()}`}
            >
              {!sending.isPending && <Upload aria-hidden />}
              Upload
            </Button>
          </>
        )}
      </div>
      <p role="status" className="text-xs text-muted empty:hidden">
        {name && name.artifactId === value ? `Uploaded: ${name.text}` : ""}
        {value === "" && projectId !== null && hint}
      </p>
      {sending.error && (
        <p role="alert" className="text-xs font-medium text-bad">
          {sending.error.message}
        </p>
      )}
    </div>
  );
}

const MOST_INLINE_BYTES = 16 * 1024 * 1024;

/** A file sent inside the request, as base64. */
export function Base64Field({ value, label, disabled, onChange, ...aria }: FieldProps) {
  const [problem, setProblem] = useState<string | null>(null);
  async function take(file: File) {
    if (file.size > MOST_INLINE_BYTES)
      return setProblem(`The file is too large. A request can hold up to ${formatBytes(MOST_INLINE_BYTES)}.`);
    setProblem(null);
    onChange(await toBase64(file));
  }
  return (
    <div className="space-y-1.5">
      <input
        {...aria}
        type="file"
        aria-label={`File for ${label.toLowerCase()}`}
        disabled={disabled}
        className="block w-full text-sm text-muted file:mr-3 file:h-8 file:rounded-md file:border file:border-line file:bg-surface file:px-3 file:text-sm file:font-medium file:text-text hover:file:bg-hover"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) void take(file);
        }}
      />
      {value !== "" && (
        <p className="text-xs text-muted">{value.length.toLocaleString("en-US")} characters of base64</p>
      )}
      {problem && (
        <p role="alert" className="text-xs font-medium text-bad">
          {problem}
        </p>
      )}
    </div>
  );
}

function toBase64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",", 2)[1] ?? "");
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
