import type { Metadata } from "next";
import { PlainPage, PlainTitle } from "@/components/shell/plain-page";
import { Button } from "@/components/ui/button";

export const metadata: Metadata = { title: "Not found" };

export default function NotFound() {
  return (
    <PlainPage>
      <PlainTitle title="Page not found">
        This page does not exist, or it belongs to a project you are not a member of.
      </PlainTitle>
      <div className="text-center">
        <Button asChild variant="primary">
          {/* Next's link would be loaded with every page */}
          <a href="/">Go to project</a>
        </Button>
      </div>
    </PlainPage>
  );
}
