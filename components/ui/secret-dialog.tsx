import { Button } from "./button";
import { CopyButton } from "./copy-button";
import { DialogActions, DialogClose, DialogContent } from "./dialog";

/** Shows a secret once. Only its button closes the dialog, so the secret is not lost by accident. */
export function SecretDialog({
  title,
  description,
  secret,
  what,
  testId,
}: {
  title: string;
  description: string;
  secret: string;
  what: string;
  testId: string;
}) {
  return (
    <DialogContent title={title} description={description} ways="button">
      <div className="flex items-start gap-2 rounded-md border border-line bg-sunken p-3">
        <code data-testid={testId} className="min-w-0 flex-1 text-sm [overflow-wrap:anywhere] select-all">
          {secret}
        </code>
        <CopyButton text={secret} what={what} showLabel variant="secondary" />
      </div>
      <DialogActions>
        <DialogClose asChild>
          <Button variant="primary">Done</Button>
        </DialogClose>
      </DialogActions>
    </DialogContent>
  );
}
