import { redirect } from "next/navigation";

type Props = { params: Promise<{ projectId: string }> };

export default async function ProjectPage({ params }: Props) {
  redirect(`/projects/${(await params).projectId}/jobs`);
}
