"""Campaigns: many evaluations, proposed by many methods, collected into one journal that survives."""

from nasbed.core.former_names import former
from nasbed.experiments.campaign.calibrating import calibrate_campaign
from nasbed.experiments.campaign.collection import CampaignProgress, collect
from nasbed.experiments.campaign.export import export_journals
from nasbed.experiments.campaign.function_trainer import FunctionTrainer
from nasbed.experiments.campaign.journal import Journal
from nasbed.experiments.campaign.network_trainers import NetworkTrainer, PopulationTrainer
from nasbed.experiments.campaign.plan import Campaign, Grid, RealSearches, Repeats, Trajectories
from nasbed.experiments.campaign.status import CampaignStatus, campaign_status
from nasbed.experiments.campaign.trainer import Trainer, trainer_of
from nasbed.experiments.campaign.trial import Evaluation, Trial

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
    "RealSearches",
    "Repeats",
    "Trainer",
    "Trajectories",
    "Trial",
    "calibrate_campaign",
    "campaign_status",
    "collect",
    "export_journals",
    "trainer_of",
]

__getattr__ = former(__name__, {"Progress": "nasbed.experiments.campaign:CampaignProgress"}, until="0.3")
