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
	paginationToken?: unknown,
): Promise<INodeListSearchResult> {
	const resumes = {
		operation: getAll,
		records: 'resumes',
		ifNone: 'This user has none yet. Pick another user, or create a resume for this one.',
		ids: ['id', '_id', 'resumeid', 'uuid'],
		readPath: () => {
			const userId = this.getCurrentNodeParameter('listUserId', { extractValue: true });
			if (!userId) {
				throw new NodeOperationError(this.getNode(), 'No user is picked', {
					description: "Pick a user in 'Resumes of User' first, or enter the resume's ID.",
				});
			}
			const parameters = new Parameters(this.getNode(), resumeId, 0, () => userId);
			return { userID: parameters.id('listUserId') };
		},
	};
	return await pick(this, resumes, { filter, paginationToken });
}
