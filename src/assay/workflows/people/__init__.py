"""Asking people: the two human tasks of Feng et al. (2018), made from reduced texts, and what the answers say.

Word intrusion (`intrusion`) is a third one, about the dimensions of a rotation.

made = tasks(examples, seed=0)                          items to show, and their key
PeopleStudy(Path("DIR")).write(made, lists(made, 6))          as files, with a list for each of six people
scores = score(collect(made.keys, read_answers([Path("answers.csv")])))
"""

from assay.workflows.people.answers import Answer as Answer
from assay.workflows.people.answers import Collected as Collected
from assay.workflows.people.answers import collect as collect
from assay.workflows.people.example import TaskText as TaskText
from assay.workflows.people.files import PeopleStudy as PeopleStudy
from assay.workflows.people.files import read_answers as read_answers
from assay.workflows.people.intrusion import IntrusionScores as IntrusionScores
from assay.workflows.people.intrusion import intrusion_scores as intrusion_scores
from assay.workflows.people.intrusion import intrusion_tasks as intrusion_tasks
from assay.workflows.people.intrusion import is_intrusion as is_intrusion
from assay.workflows.people.lists import Assignment as Assignment
from assay.workflows.people.lists import lists as lists
from assay.workflows.people.lists import lists_of_all as lists_of_all
from assay.workflows.people.results import Scores as Scores
from assay.workflows.people.results import score as score
from assay.workflows.people.tasks import Item as Item
from assay.workflows.people.tasks import Key as Key
from assay.workflows.people.tasks import Tasks as Tasks
from assay.workflows.people.tasks import tasks as tasks
