import {
	type ILoadOptionsFunctions,
	type INodeListSearchResult,
	NodeOperationError,
} from 'n8n-workflow';

import { Parameters } from '../request/parameters';
import { resumeId } from '../resources/fields';
import { getAll } from '../resources/resume/getAll';
import { pick } from './pick';

/** The picker of resumes: those of the user in `listUserId`, as the service lists no others. */
export async function searchResumes(
	this: ILoadOptionsFunctions,
	filter?: string,
): Promise<INodeListSearchResult> {
	const userId = this.getCurrentNodeParameter('listUserId', { extractValue: true });
	if (!userId) {
		throw new NodeOperationError(this.getNode(), 'No user is picked', {
			description: "Pick a user in 'Resumes of User' first, or enter the resume's ID.",
		});
	}
	const parameters = new Parameters(this.getNode(), resumeId, 0, () => String(userId));
	return await pick(this, getAll, { userID: parameters.id('listUserId') }, filter);
}
