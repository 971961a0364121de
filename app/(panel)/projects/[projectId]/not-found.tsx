import { FileQuestion } from "lucide-react";
import { Button } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import Link from "@/components/ui/link";

export default function NotFound() {
  return (
    <EmptyState
      icon={FileQuestion}
      title="Page not found"
      action={
        <Button asChild variant="primary">
          <Link href="/">Go to project</Link>
        </Button>
      }
    >
      This page does not exist, or it belongs to a project you are not a member of.
    </EmptyState>
  );
}
