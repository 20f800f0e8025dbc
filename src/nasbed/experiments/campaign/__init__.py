"""Campaigns: many evaluations, proposed by many methods, collected into one journal that survives."""

from nasbed.experiments.campaign.collecting import CampaignProgress, collect
from nasbed.experiments.campaign.export import export_journals
from nasbed.experiments.campaign.function_trainer import FunctionTrainer
from nasbed.experiments.campaign.journal import Journal
from nasbed.experiments.campaign.network_trainers import NetworkTrainer, PopulationTrainer
from nasbed.experiments.campaign.plan import Campaign, Grid, Repeats, Trajectories
from nasbed.experiments.campaign.status import CampaignStatus, campaign_status
from nasbed.experiments.campaign.trainer import Trainer, trainer_of
from nasbed.experiments.campaign.trial import Evaluation, Trial

Progress = CampaignProgress
"""The former name; it goes with the next version."""

__all__ = [
    "Campaign",
    "CampaignProgress",
    "CampaignStatus",
    "Evaluation",
    "FunctionTrainer",
    "Grid",
    "Journal",
    "NetworkTrainer",
    "PopulationTrainer",
    "Progress",
    "Repeats",
    "Trainer",
    "Trajectories",
    "Trial",
    "campaign_status",
    "collect",
    "export_journals",
    "trainer_of",
]
