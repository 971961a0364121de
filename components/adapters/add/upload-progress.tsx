import { formatBytes } from "@/components/artifacts/format-bytes";
import { formatDuration } from "@/components/time/format";
import { Button } from "@/components/ui/button";
import type { Upload } from "./use-upload";

/** The progress of an upload, its rate and the time left. */
export function UploadProgress({ upload, onCancel }: { upload: Upload; onCancel(): void }) {
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

function paceWords({
  bytesPerSecond,
  secondsLeft,
}: {
  bytesPerSecond: number | null;
  secondsLeft: number | null;
}) {
  if (bytesPerSecond === null) return "";
  const pace = ` · ${formatBytes(Math.round(bytesPerSecond))}/s`;
  return secondsLeft === null ? pace : `${pace} · ${formatDuration(secondsLeft * 1000)} left`;
}
