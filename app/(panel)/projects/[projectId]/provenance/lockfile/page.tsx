import type { Metadata } from "next";
import { LockfileRoom } from "@/components/provenance/lockfile-room";
import { requirePerson } from "@/server/auth/session";

export const metadata: Metadata = { title: "Check lockfile" };

type Props = { params: Promise<{ projectId: string }> };

export default async function LockfilePage({ params }: Props) {
  const { projectId } = await params;
  await requirePerson(`/projects/${projectId}/provenance/lockfile`);
  return <LockfileRoom projectId={projectId} />;
}
