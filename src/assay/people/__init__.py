"""Asking people: the two human tasks of Feng et al. (2018), made from reduced texts, and what the answers say.

made = tasks(examples, seed=0)                          items to show, and their key
Study(Path("DIR")).write(made, lists(made, 6))          as files, with a list for each of six people
scores = score(collect(made.keys, read_answers([Path("answers.csv")])))
"""

from assay.people.answers import Answer as Answer
from assay.people.answers import Collected as Collected
from assay.people.answers import collect as collect
from assay.people.example import Example as Example
from assay.people.files import Study as Study
from assay.people.files import read_answers as read_answers
from assay.people.lists import Assignment as Assignment
from assay.people.lists import lists as lists
from assay.people.results import Scores as Scores
from assay.people.results import score as score
from assay.people.tasks import Item as Item
from assay.people.tasks import Key as Key
from assay.people.tasks import Tasks as Tasks
from assay.people.tasks import tasks as tasks
