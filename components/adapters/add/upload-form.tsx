"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import { Upload as UploadIcon } from "lucide-react";
import { useRef, useState } from "react";
import { FamilySelect } from "@/components/adapters/family-select";
import { readWeight, WeightField } from "@/components/adapters/weight-field";
import { formatBytes } from "@/components/artifacts/format-bytes";
import { TextField } from "@/components/blocks/form/fields";
import { Form } from "@/components/blocks/form/form";
import { useTRPC } from "@/components/data/trpc";
import { formatDuration } from "@/components/time/format";
import { Button } from "@/components/ui/button";
import { Notice } from "@/components/ui/notice";
import { useUnsaved } from "@/components/unsaved/unsaved-work";
import type { AddProps } from "./add-props";
import { DropZone } from "./drop-zone";
import { type HeaderLook, lookAt, nameOfFile } from "./header-look";
import { type UploadState, useUpload } from "./use-upload";

/** Uploads a file: checks its header here, then sends it to be checked in full on the server. */
export function UploadForm({ projectId, environment, onAdded }: AddProps) {
  const trpc = useTRPC();
  const { data: choices } = useSuspenseQuery(trpc.adapters.choices.queryOptions());
  const [file, setFile] = useState<File | null>(null);
  /** The latest chosen file; an earlier one may still be being read. */
  const latest = useRef<File>(null);
  const [look, setLook] = useState<HeaderLook | null>(null);
  const [name, setName] = useState("");
  const [family, setFamily] = useState("");
  const [weight, setWeight] = useState("");
  const { upload, isUnderWay, start, cancel } = useUpload((adapter) => onAdded(adapter, "Adapter uploaded"));
  useUnsaved(file !== null || name !== "" || weight !== "");
  const chosenWeight = readWeight(weight);
  const isReady =
    file !== null &&
    look !== null &&
    look.kind !== "refused" &&
    name.trim() !== "" &&
    chosenWeight !== undefined;

  async function take(next: File) {
    cancel();
    latest.current = next;
    setFile(next);
    setLook(null);
    // A typed name is kept; a name suggested by another file is replaced.
    setName((known) =>
      known === "" || (file && known === nameOfFile(file.name)) ? nameOfFile(next.name) : known,
    );
    const seen = await lookAt(next, choices.limits).catch(() => ({ kind: "unclear" }) as const);
    if (latest.current === next) setLook(seen);
  }

  function send() {
    if (!isReady || isUnderWay) return;
    const form = new FormData();
    form.set("displayName", name.trim());
    form.set("environment", environment);
    if (family !== "") form.set("baseModelFamily", family);
    if (chosenWeight !== null) form.set("recommendedWeight", String(chosenWeight));
    form.set("file", file); // last, so that the server knows the other fields when the file arrives
    start(`/v1/adapters/upload?${new URLSearchParams({ projectId })}`, form, file.size);
  }

  return (
    <Form send={send} noValidate>
      <DropZone file={file} mostBytes={choices.limits.fileBytes} disabled={isUnderWay} onFile={take} />
      {look && <Seen look={look} />}
      {upload.state === "refused" && (
        <Notice
          tone="bad"
          role="alert"
          title={
            upload.refusal.rule ? "File refused. Nothing was saved." : "Upload failed. Nothing was saved."
          }
        >
          <p>{upload.refusal.message}</p>
          <Rule rule={upload.refusal.rule} />
          {upload.refusal.requestId && (
            <p className="mt-1 text-xs text-muted">
              Request <code>{upload.refusal.requestId}</code>
            </p>
          )}
        </Notice>
      )}
      <TextField
        name="displayName"
        label="Name"
        hint="Unique in the environment, ignoring case."
        value={name}
        maxLength={255}
        disabled={isUnderWay}
        onChange={({ target }) => setName(target.value)}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <FamilySelect
          id="upload-family"
          value={family}
          onChange={setFamily}
          none="From the file"
          hint="An adapter works only with the base model it was trained for."
        />
        <WeightField
          id="upload-weight"
          value={weight}
          onChange={setWeight}
          hint="The recommended strength; 1 is as trained. Leave empty to use the file's value."
        />
      </div>
      <UploadProgress upload={upload} onCancel={cancel} />
      <Button type="submit" variant="primary" size="lg" disabled={!isReady || isUnderWay}>
        <UploadIcon aria-hidden />
        Upload
      </Button>
    </Form>
  );
}

function Seen({ look }: { look: HeaderLook }) {
  if (look.kind === "refused")
    return (
      <Notice tone="bad" role="alert" title="Not a safetensors file. Nothing was sent.">
        <p>{look.message}</p>
        <Rule rule={look.rule} />
      </Notice>
    );
  if (look.kind === "unclear")
    return (
      <Notice tone="warn">
        The header of this file is unusual. The whole file is checked when you upload it.
      </Notice>
    );
  return (
    <div className="text-xs text-muted" role="status">
      <p>
        {look.tensors.toLocaleString("en-US")} {look.tensors === 1 ? "tensor" : "tensors"}
        {look.madeFor && (
          <>
            , trained for <strong className="font-medium text-text">{look.madeFor}</strong> according to the
            file
          </>
        )}
        .
      </p>
      {look.names.length > 0 && <p className="truncate font-mono">{look.names.join(", ")} …</p>}
    </div>
  );
}

function Rule({ rule }: { rule: string | null }) {
  if (!rule) return null;
  return (
    <p className="mt-1 text-xs text-muted">
      Rule <code>{rule}</code>
    </p>
  );
}

/** The progress of an upload, its rate and the time left. */
function UploadProgress({ upload, onCancel }: { upload: UploadState; onCancel(): void }) {
  if (upload.state !== "sending" && upload.state !== "checking") return null;
  const isChecking = upload.state === "checking";
  const percent = isChecking ? 100 : upload.progress.percent;
  return (
    <div className="space-y-2">
      <div
        role="progressbar"
        aria-label="Upload"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={percent}
        className="meter h-2 overflow-hidden rounded-full bg-hover"
      >
        <div className="h-full rounded-full bg-primary transition-[width]" style={{ width: `${percent}%` }} />
      </div>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2 text-sm">
        <p className="min-w-0 flex-1 tabular-nums">
          {isChecking ? (
            "Upload complete. Checking the file …"
          ) : (
            <>
              {formatBytes(upload.progress.sent)} of {formatBytes(upload.total)}
              <span className="text-muted">{paceWords(upload.progress)}</span>
            </>
          )}
        </p>
        <Button size="sm" onClick={onCancel}>
          Cancel upload
        </Button>
      </div>
      {/* Announced every 25%, not with every chunk. */}
      <p className="sr-only" role="status">
        {isChecking ? "Checking the file" : `${Math.floor(percent / 25) * 25}% uploaded`}
      </p>
    </div>
  );
}

type Props = { bytesPerSecond: number | null; secondsLeft: number | null };

function paceWords({ bytesPerSecond, secondsLeft }: Props) {
  if (bytesPerSecond === null) return "";
  const pace = ` · ${formatBytes(Math.round(bytesPerSecond))}/s`;
  return secondsLeft === null ? pace : `${pace} · ${formatDuration(secondsLeft * 1000)} left`;
}
